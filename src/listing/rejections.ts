import type { ColumnReader } from '../json-columns/column-reader.ts';
import type { RecordType } from '../json-columns/fields.ts';
import type { InvalidCount, InvalidFieldCount, InvalidReason, RejectedEntry } from './listing.ts';
import { RECORD_KINDS, type Outputs, type RecordKind, type TaskListTable, type Tasks } from './task-list.ts';

const MAX_FIRST = 5;

interface Entry {
  readonly record: RecordKind;
  readonly reason: InvalidReason;
  /** Number among the elements of both lists. */
  readonly entry: number;
}

/** Entries of a listing that were rejected: by the engine, in the lists of tasks, and tasks by their ids. */
export class Rejections {
  readonly #reader: ColumnReader;
  readonly #table: TaskListTable;
  /** Entries of nested lists that are no objects. */
  readonly #nested = { input: 0, output: 0, stream: 0 };
  readonly #tasks = { invalid_id: 0, duplicate_id: 0 };
  /** The first rejected entries in the order of the listing. */
  #first: Entry[] = [];

  constructor(reader: ColumnReader, table: TaskListTable) {
    this.#reader = reader;
    this.#table = table;
  }

  clear(): void {
    this.#first = [];
    Object.assign(this.#tasks, { invalid_id: 0, duplicate_id: 0 });
    Object.assign(this.#nested, { input: 0, output: 0, stream: 0 });
  }

  /** Takes one of the first rejected elements of `user_list` or `task_list`. */
  noteElement(type: RecordType, reason: InvalidReason, entry: number): void {
    this.#note(type === this.#table.user ? 'user' : 'task', reason, entry);
  }

  addTask(reason: 'invalid_id' | 'duplicate_id', entry: number): void {
    this.#tasks[reason] += 1;
    this.#note('task', reason, entry);
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
    this.#add('input', inputs.rejected[row] ?? 0, entry[row] ?? 0);
    this.#add('output', outputs.rejected[row] ?? 0, entry[row] ?? 0);
    this.#add('stream', rejectedStreams, entry[row] ?? 0);
  }

  listRecords(): InvalidCount[] {
    const nested = (['input', 'output', 'stream'] as const).map((record): InvalidCount => ({
      record,
      reason: 'not_an_object',
      count: this.#nested[record],
    }));
    const tasks = (['invalid_id', 'duplicate_id'] as const).map((reason): InvalidCount => ({
      record: 'task',
      reason,
      count: this.#tasks[reason],
    }));
    return [
      ...this.#reader.listRejected(this.#table.user).map((count) => ({ record: 'user', ...count }) as const),
      ...this.#reader.listRejected(this.#table.task).map((count) => ({ record: 'task', ...count }) as const),
      ...tasks,
      ...nested,
    ].filter(({ count }) => count > 0);
  }

  listFields(): InvalidFieldCount[] {
    return RECORD_KINDS.flatMap((record) =>
      this.#reader.listInvalidFields(this.#table[record]).map((count) => ({ record, ...count })),
    );
  }

  /** The first rejected entries, in the order of the listing. */
  listFirst(): RejectedEntry[] {
    return this.#first.map(({ record, reason, entry }) => {
      const list = record === 'user' ? this.#table.user : this.#table.task;
      return { record, reason, index: entry - this.#reader.firstEntryOf(list) };
    });
  }

  #add(record: 'input' | 'output' | 'stream', count: number, entry: number): void {
    if (count === 0) return;
    this.#nested[record] += count;
    for (let noted = 0; noted < Math.min(count, MAX_FIRST); noted += 1)
      this.#note(record, 'not_an_object', entry);
  }

  #note(record: RecordKind, reason: InvalidReason, entry: number): void {
    const isFull = this.#first.length === MAX_FIRST;
    if (isFull && entry >= (this.#first.at(-1)?.entry ?? 0)) return;
    const sorted = [...this.#first, { record, reason, entry }].toSorted((a, b) => a.entry - b.entry);
    this.#first = sorted.slice(0, MAX_FIRST);
  }
}
