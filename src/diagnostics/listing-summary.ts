import type { ListingSink } from '../listing/record-readers.ts';
import type { InvalidReason, RecordKind, TaskRecord } from '../listing/records.ts';
import type { InvalidEntry, Listing } from './observation.ts';

/** So many of the entries that were left out are told one by one. */
const MAX_TOLD = 5;

const INSIDE: Readonly<Record<Exclude<RecordKind, 'user' | 'task'>, string>> = {
  input: 'an input',
  output: 'an output',
  stream: 'a stream',
};

/** Counts what is in a listing, and notes where the first entries stand that had to be left out. */
export class ListingNotes implements ListingSink {
  readonly #taskIds = new Set<string>();
  readonly #firstInvalid: InvalidEntry[] = [];
  #users = 0;
  #inputs = 0;
  #outputs = 0;
  #streams = 0;
  #invalid = 0;
  /** Entries of each list so far, left out or not: the index of the next one. */
  #userEntries = 0;
  #taskEntries = 0;

  user(): void {
    this.#users += 1;
    this.#userEntries += 1;
  }

  task({ id, inputs, outputs }: TaskRecord): void {
    if (this.#taskIds.has(id)) {
      this.invalid('task', 'duplicate_id');
      return;
    }
    this.#taskIds.add(id);
    this.#taskEntries += 1;
    this.#inputs += inputs.length;
    this.#outputs += outputs.length;
    for (const { streams } of outputs) this.#streams += streams.length;
  }

  /** What is left out within a task is told before the task itself. */
  invalid(record: RecordKind, reason: InvalidReason): void {
    this.#invalid += 1;
    if (this.#firstInvalid.length < MAX_TOLD) this.#firstInvalid.push({ place: this.#place(record), reason });
    if (record === 'user') this.#userEntries += 1;
    if (record === 'task') this.#taskEntries += 1;
  }

  get listing(): Listing {
    return {
      users: this.#users,
      tasks: this.#taskIds.size,
      inputs: this.#inputs,
      outputs: this.#outputs,
      streams: this.#streams,
      invalid: this.#invalid,
      firstInvalid: this.#firstInvalid,
    };
  }

  #place(record: RecordKind): string {
    if (record === 'user') return `user_list[${this.#userEntries}]`;
    const task = `task_list[${this.#taskEntries}]`;
    return record === 'task' ? task : `${INSIDE[record]} of ${task}`;
  }
}
