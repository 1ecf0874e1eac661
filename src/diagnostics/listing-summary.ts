import type { ListingSink, ListingTotals, RecordKind, RejectedEntry } from '../listing/listing-sink.ts';
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

  reserveAccounts(): boolean {
    return true;
  }

  finish({ users, taskCount, sums, invalidRecords, invalidFields, firstRejected }: ListingTotals): void {
    this.#summary = {
      users,
      tasks: taskCount,
      inputs: sums.inputs.computeTotal('inputs'),
      outputs: sums.outputs.computeTotal('outputs'),
      streams: sums.streams.computeTotal('streams'),
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
