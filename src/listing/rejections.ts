import type { ColumnReader } from './engine/column-reader.ts';
import type { InvalidCount, InvalidFieldCount, RejectedEntry } from './listing-sink.ts';
import { RECORD_KINDS, type InvalidReason, type RecordKind } from './records.ts';
import type { Outputs, TaskListTable, Tasks } from './task-list.ts';

const MAX_FIRST = 5;

interface Entry {
  readonly record: RecordKind;
  readonly reason: InvalidReason;
  /** Number among the elements of both lists. */
  readonly entry: number;
}

/** Entries of a listing that were rejected: by the engine, in the lists of tasks, and duplicate tasks. */
export class Rejections {
  readonly #reader: ColumnReader;
  readonly #table: TaskListTable;
  /** Entries of nested lists that are no objects. */
  readonly #nested = { input: 0, output: 0, stream: 0 };
  #duplicates = 0;
  /** Those of tasks among the first rejected entries. */
  #first: Entry[] = [];

  constructor(reader: ColumnReader, table: TaskListTable) {
    this.#reader = reader;
    this.#table = table;
  }

  clear(): void {
    this.#first = [];
    this.#duplicates = 0;
    Object.assign(this.#nested, { input: 0, output: 0, stream: 0 });
  }

  addDuplicate(entry: number): void {
    this.#duplicates += 1;
    this.#note('task', 'duplicate_id', entry, 1);
  }

  /** Counts the entries of the lists of a task that are no objects; its outputs are rows from `first` to `end`. */
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
    if (this.#isEmpty) return [];
    const nested = (['input', 'output', 'stream'] as const).map((record): InvalidCount => ({
      record,
      reason: 'not_an_object',
      count: this.#nested[record],
    }));
    return [
      ...this.#reader.listRejected(this.#table.user).map((count) => ({ record: 'user', ...count }) as const),
      ...this.#reader.listRejected(this.#table.task).map((count) => ({ record: 'task', ...count }) as const),
      { record: 'task', reason: 'duplicate_id', count: this.#duplicates } as const,
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
    if (this.#isEmpty) return [];
    const elements = this.#reader.listFirstRejected().map(({ type, reason, entry }): Entry => ({
      record: type === this.#table.user ? 'user' : 'task',
      reason,
      entry,
    }));
    return [...elements, ...this.#first]
      .toSorted((a, b) => a.entry - b.entry)
      .slice(0, MAX_FIRST)
      .map(({ record, reason, entry }) => {
        const list = record === 'user' ? this.#table.user : this.#table.task;
        return { record, reason, index: entry - this.#reader.firstEntryOf(list) };
      });
  }

  get #isEmpty(): boolean {
    return this.#first.length === 0 && !this.#reader.hasRejected;
  }

  #add(record: 'input' | 'output' | 'stream', count: number, entry: number): void {
    if (count === 0) return;
    this.#nested[record] += count;
    this.#note(record, 'not_an_object', entry, count);
  }

  #note(record: RecordKind, reason: InvalidReason, entry: number, count: number): void {
    for (let noted = 0; noted < count && this.#first.length < MAX_FIRST; noted += 1)
      this.#first.push({ record, reason, entry });
  }
}
