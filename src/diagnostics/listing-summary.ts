import type { ListingSink, ListingTotals, RejectedEntry, RowFamily } from '../listing/listing-sink.ts';
import type { RecordKind } from '../listing/records.ts';
import type { ListingSummary } from './observation.ts';

const NESTED_RECORD_NAMES: Readonly<Record<Exclude<RecordKind, 'user' | 'task'>, string>> = {
  input: 'an input',
  output: 'an output',
  stream: 'a stream',
};

const NO_RECORDS: ListingSummary = {
  users: 0,
  tasks: 0,
  inputs: 0,
  outputs: 0,
  streams: 0,
  invalid: 0,
  firstInvalid: [],
  invalidFields: [],
};

/** Counts the records of a listing, and locates the first invalid ones. */
export class ListingSummarizer implements ListingSink {
  #summary = NO_RECORDS;

  get summary(): ListingSummary {
    return this.#summary;
  }

  setProgress(users: number, tasks: number): void {
    this.#summary = { ...this.#summary, users, tasks };
  }

  addTask(): void {
    // The totals hold the number of tasks.
  }

  finish({ users, tasks, rows, invalidRecords, invalidFields, firstRejected }: ListingTotals): void {
    const counts = new Map<RowFamily, number>();
    for (const { family, numbers } of rows) counts.set(family, (counts.get(family) ?? 0) + numbers[0]);
    this.#summary = {
      users,
      tasks,
      inputs: counts.get('inputs') ?? 0,
      outputs: counts.get('outputs') ?? 0,
      streams: counts.get('streams') ?? 0,
      invalid: invalidRecords.reduce((sum, { count }) => sum + count, 0),
      firstInvalid: firstRejected.map((entry) => ({ location: locate(entry), reason: entry.reason })),
      invalidFields: invalidFields.map(({ record, field, count }) => ({ name: `${record}.${field}`, count })),
    };
  }
}

function locate({ record, index }: RejectedEntry): string {
  if (record === 'user') return `user_list[${index}]`;
  const task = `task_list[${index}]`;
  return record === 'task' ? task : `${NESTED_RECORD_NAMES[record]} of ${task}`;
}
