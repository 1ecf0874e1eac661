import type { ListingSink } from '../listing/record-readers.ts';
import type { InvalidReason, RecordKind, TaskRecord } from '../listing/records.ts';
import type { InvalidEntry, InvalidFieldCount, ListingSummary } from './observation.ts';

const MAX_REPORTED_INVALID = 5;

const NESTED_RECORD_NAMES: Readonly<Record<Exclude<RecordKind, 'user' | 'task'>, string>> = {
  input: 'an input',
  output: 'an output',
  stream: 'a stream',
};

/** Counts the records of a listing, and locates the first invalid ones. */
export class ListingSummarizer implements ListingSink {
  /** A task is identified by its server and its id. */
  readonly #taskKeys = new Set<string>();
  readonly #firstInvalid: InvalidEntry[] = [];
  readonly #invalidFields = new Map<string, InvalidFieldCount>();
  #users = 0;
  #inputs = 0;
  #outputs = 0;
  #streams = 0;
  #invalid = 0;
  /** Indices of the next entries, which count valid and invalid ones. */
  #userIndex = 0;
  #taskIndex = 0;

  addUser(): void {
    this.#users += 1;
    this.#userIndex += 1;
  }

  addTask({ id, vsId, inputs, outputs }: TaskRecord): void {
    const key = JSON.stringify([vsId, id]);
    if (this.#taskKeys.has(key)) {
      this.addInvalid('task', 'duplicate_id');
      return;
    }
    this.#taskKeys.add(key);
    this.#taskIndex += 1;
    this.#inputs += inputs.length;
    this.#outputs += outputs.length;
    for (const { streams } of outputs) this.#streams += streams.length;
  }

  /** The reader reports the invalid records within a task before the task itself, so the task index still fits. */
  addInvalid(record: RecordKind, reason: InvalidReason): void {
    this.#invalid += 1;
    if (this.#firstInvalid.length < MAX_REPORTED_INVALID)
      this.#firstInvalid.push({ location: this.#locate(record), reason });
    if (record === 'user') this.#userIndex += 1;
    if (record === 'task') this.#taskIndex += 1;
  }

  addInvalidField(record: RecordKind, field: string): void {
    const name = `${record}.${field}`;
    const count = (this.#invalidFields.get(name)?.count ?? 0) + 1;
    this.#invalidFields.set(name, { name, count });
  }

  get summary(): ListingSummary {
    return {
      users: this.#users,
      tasks: this.#taskKeys.size,
      inputs: this.#inputs,
      outputs: this.#outputs,
      streams: this.#streams,
      invalid: this.#invalid,
      firstInvalid: this.#firstInvalid,
      invalidFields: [...this.#invalidFields.values()],
    };
  }

  #locate(record: RecordKind): string {
    if (record === 'user') return `user_list[${this.#userIndex}]`;
    const task = `task_list[${this.#taskIndex}]`;
    return record === 'task' ? task : `${NESTED_RECORD_NAMES[record]} of ${task}`;
  }
}
