import type { ColumnReader } from '../json-columns/column-reader.ts';
import type { RecordType } from '../json-columns/fields.ts';
import type { InvalidReason, RejectedEntry } from './listing.ts';
import { TextRows } from './rows.ts';
import { RECORD_KINDS, type Outputs, type RecordKind, type TaskListTable, type Tasks } from './task-list.ts';

const MAX_FIRST = 5;

interface Entry {
  readonly record: RecordKind;
  readonly reason: InvalidReason;
  /** The number of the element, counted through both lists. */
  readonly entry: number;
}

/**
 * Counts the rejected entries of a listing: elements that the engine rejects, entries of lists in tasks that
 * are no objects, and tasks with invalid or duplicate ids.
 */
export class Rejections {
  readonly #reader: ColumnReader;
  readonly #table: TaskListTable;
  #records = new TextRows('invalidRecords');
  #first: Entry[] = [];

  constructor(reader: ColumnReader, table: TaskListTable) {
    this.#reader = reader;
    this.#table = table;
  }

  clear(): void {
    this.#records = new TextRows('invalidRecords');
    this.#first = [];
  }

  noteElement(type: RecordType, reason: InvalidReason, entry: number): void {
    this.#note(type === this.#table.user ? 'user' : 'task', reason, entry);
  }

  addTask(reason: 'invalid_id' | 'duplicate_id', entry: number): void {
    this.#add('task', reason, 1, entry);
  }

  /** Counts entries of the lists of a task that are no objects; its outputs are from `first` to `end`. */
  countNested(
    { entry, inputs, outputs }: Tasks,
    row: number,
    { streams }: Outputs,
    first: number,
    end: number,
  ): void {
    let rejectedStreams = 0;
    for (let output = first; output < end; output += 1) rejectedStreams += streams.rejected[output] ?? 0;
    this.#add('input', 'not_an_object', inputs.rejected[row] ?? 0, entry[row] ?? 0);
    this.#add('output', 'not_an_object', outputs.rejected[row] ?? 0, entry[row] ?? 0);
    this.#add('stream', 'not_an_object', rejectedStreams, entry[row] ?? 0);
  }

  /** Returns the rejected entries by record and reason. Call it once: it adds the counts of the engine. */
  countRecords(): TextRows<'invalidRecords'> {
    for (const record of ['user', 'task'] as const)
      for (const { reason, count } of this.#reader.listRejected(this.#table[record]))
        this.#records.count('invalidRecords', count, record, reason);
    return this.#records;
  }

  countFields(): TextRows<'invalidFields'> {
    const fields = new TextRows('invalidFields');
    for (const record of RECORD_KINDS)
      for (const { field, count } of this.#reader.listInvalidFields(this.#table[record]))
        fields.set({ invalidFields: count }, record, field);
    return fields;
  }

  listFirst(): RejectedEntry[] {
    return this.#first.map(({ record, reason, entry }) => {
      const list = record === 'user' ? this.#table.user : this.#table.task;
      return { record, reason, index: entry - this.#reader.firstEntryOf(list) };
    });
  }

  #add(record: RecordKind, reason: InvalidReason, count: number, entry: number): void {
    if (count === 0) return;
    this.#records.count('invalidRecords', count, record, reason);
    for (let noted = 0; noted < Math.min(count, MAX_FIRST); noted += 1) this.#note(record, reason, entry);
  }

  #note(record: RecordKind, reason: InvalidReason, entry: number): void {
    const isFull = this.#first.length === MAX_FIRST;
    if (isFull && entry >= (this.#first.at(-1)?.entry ?? 0)) return;
    const sorted = [...this.#first, { record, reason, entry }].toSorted((a, b) => a.entry - b.entry);
    this.#first = sorted.slice(0, MAX_FIRST);
  }
}
