import type { ColumnReader } from '../json-columns/column-reader.ts';
import type { TextColumn } from '../json-columns/fields.ts';
import type { LabelValues } from '../json-columns/label-values.ts';
import {
  OWN_INPUT,
  type AccountReservations,
  type ListingOptions,
  type OutputReading,
  type PartReading,
  type TaskReading,
} from './listing.ts';
import type { Inputs, Outputs, TaskListTable, Tasks } from './task-list.ts';
import { getTaskNameField, readTaskName, type TaskNameSource } from './task-name.ts';

export interface TaskRows {
  readonly row: number;
  readonly firstInput: number;
  readonly inputsEnd: number;
  readonly firstOutput: number;
  readonly outputsEnd: number;
}

/** The readings of the tasks of a listing, up to the limit of accounts. */
export class TaskReadings {
  readonly #reader: ColumnReader;
  readonly #labelValues: LabelValues;
  readonly #maxAccounts: number;
  readonly #tasks: Tasks;
  readonly #inputs: Inputs;
  readonly #outputs: Outputs;
  #tasksById = new Map<string, TaskReading>();
  #accounts = 0;
  #reservations: AccountReservations | undefined;
  #nameSource: TaskNameSource | undefined;
  #expectedNames: ReadonlySet<string> = new Set();
  /** Tasks that lose their accounts to those of expected names, with the number of their accounts. */
  #others: [id: string, accounts: number][] = [];
  /** Tasks without accounts: beyond the limit of the listing (`task`) or of the process (`account`). */
  readonly surplus = { task: 0, account: 0 };

  constructor(reader: ColumnReader, table: TaskListTable, labelValues: LabelValues, maxAccounts: number) {
    this.#reader = reader;
    this.#labelValues = labelValues;
    this.#maxAccounts = maxAccounts;
    this.#tasks = reader.columnsOf(table.task);
    this.#inputs = reader.columnsOf(table.input);
    this.#outputs = reader.columnsOf(table.output);
  }

  begin({ taskName, expectation }: ListingOptions, reservations: AccountReservations | undefined): void {
    this.#nameSource = taskName;
    this.#expectedNames = new Set(expectation?.names);
    this.#reservations = reservations;
    Object.assign(this.surplus, { task: 0, account: 0 });
  }

  release(): void {
    this.#reservations?.release(this.#accounts);
    this.#reservations = undefined;
    this.#accounts = 0;
    this.#tasksById = new Map();
    this.#others = [];
  }

  readId(row: number): string {
    const { addresses, lengths } = this.#tasks.id;
    return this.#reader.readText(addresses[row] ?? 0, lengths[row] ?? 0);
  }

  /** Reserves the accounts of a task, if the budget allows. Tasks of expected names take those of others. */
  reserve(rows: TaskRows): boolean {
    const count = countAccounts(rows);
    let lack = this.#reserve(count);
    if (lack !== undefined && this.#isExpected(this.#readName(rows)))
      while (lack !== undefined && this.#dropLast(lack)) lack = this.#reserve(count);
    if (lack !== undefined) this.surplus[lack] += 1;
    return lack === undefined;
  }

  /** Returns the item of the limit that is reached; `undefined` if the accounts are reserved. */
  #reserve(count: number): 'task' | 'account' | undefined {
    if (this.#accounts + count > this.#maxAccounts) return 'task';
    if (this.#reservations?.reserve(count) === false) return 'account';
    this.#accounts += count;
    return undefined;
  }

  #isExpected(name: string | undefined): boolean {
    return name !== undefined && this.#expectedNames.has(name);
  }

  /** Takes the accounts of the last task without an expected name; returns whether there was one. */
  #dropLast(lack: 'task' | 'account'): boolean {
    const [id, count] = this.#others.pop() ?? [];
    const task = id === undefined ? undefined : this.#tasksById.get(id);
    if (task === undefined || count === undefined) return false;
    this.#tasksById.delete(task.id);
    this.#reservations?.release(count);
    this.#accounts -= count;
    this.surplus[lack] += 1;
    return true;
  }

  has(id: string): boolean {
    return this.#tasksById.has(id);
  }

  add(rows: TaskRows, id: string, outputs: readonly OutputReading[]): void {
    const task = this.#create(rows, id, outputs);
    this.#tasksById.set(id, task);
    if (this.#expectedNames.size > 0 && !this.#isExpected(task.name))
      this.#others.push([id, countAccounts(rows)]);
  }

  finish(): ReadonlyMap<string, TaskReading> {
    return this.#tasksById;
  }

  #create(rows: TaskRows, id: string, outputs: readonly OutputReading[]): TaskReading {
    const { row, firstInput, inputsEnd } = rows;
    const tasks = this.#tasks;
    const bytes = toOptional(tasks.input_bytes[row]);
    // Inputs beyond a limit count, too.
    const inputCount = inputsEnd - firstInput + (tasks.inputs.surplus[row] ?? 0);
    let connections = 0;
    for (const output of outputs) connections += output.connections;
    return {
      id,
      vsId: this.#labelValues.getValue(tasks.vs_id[row] ?? 0),
      name: this.#readName(rows),
      progress: toOptional(tasks.progress[row]),
      inputCount,
      inputs:
        bytes === undefined
          ? readInputs(this.#inputs, firstInput, inputsEnd)
          : [{ identity: OWN_INPUT, bytes }],
      protocol: inputCount === 1 ? this.#labelValues.getValue(this.#inputs.url[firstInput] ?? 0) : undefined,
      outputs,
      connections,
    };
  }

  #readName(rows: TaskRows): string | undefined {
    const source = this.#nameSource;
    if (source === undefined) return undefined;
    const { row, firstInput, inputsEnd, firstOutput, outputsEnd } = rows;
    const field = getTaskNameField(source);
    if (field === 'opaque') return this.#readFirstName(source, this.#tasks.opaque, row, row + 1);
    return field === 'user_name'
      ? this.#readFirstName(source, this.#inputs.user_name, firstInput, inputsEnd)
      : this.#readFirstName(source, this.#outputs[field], firstOutput, outputsEnd);
  }

  #readFirstName(
    source: TaskNameSource,
    column: TextColumn | undefined,
    first: number,
    end: number,
  ): string | undefined {
    for (let row = first; row < end; row += 1) {
      const length = column?.lengths[row] ?? 0;
      const text = length === 0 ? '' : this.#reader.readText(column?.addresses[row] ?? 0, length);
      const name = readTaskName(source, text);
      if (name !== undefined) return name;
    }
    return undefined;
  }
}

/** A task needs one account, one for each output, and one for each input beyond the first. */
function countAccounts({ firstInput, inputsEnd, firstOutput, outputsEnd }: TaskRows): number {
  return Math.max(1, inputsEnd - firstInput) + outputsEnd - firstOutput;
}

/** A missing number is -1 in a column. */
function toOptional(value: number | undefined): number | undefined {
  return value === -1 ? undefined : value;
}

function readInputs({ identity, input_bytes }: Inputs, first: number, end: number): readonly PartReading[] {
  const parts: PartReading[] = [];
  for (let row = first; row < end; row += 1)
    parts.push({ identity: identity[row] ?? 0, bytes: toOptional(input_bytes[row]) });
  return sortParts(parts);
}

export function readOutput(
  { identity, http_output_bytes }: Outputs,
  row: number,
  connections: number,
  outputRow: number,
  renditionRow: number,
): OutputReading {
  const bytes = toOptional(http_output_bytes[row]);
  return { identity: identity[row] ?? 0, bytes, connections, outputRow, renditionRow };
}

/** Up to this number of parts, inserting is faster than sorting. */
const MAX_INSERTED = 32;

/** Sorts parts by identity, equal identities by bytes, the largest first. */
export function sortParts<Part extends PartReading>(parts: Part[]): Part[] {
  if (parts.length > MAX_INSERTED) return parts.toSorted(compareParts);
  for (let index = 1; index < parts.length; index += 1) {
    for (let at = index; at > 0; at -= 1) {
      const [part, other] = [parts[at], parts[at - 1]];
      if (part === undefined || other === undefined || compareParts(other, part) <= 0) break;
      parts[at] = other;
      parts[at - 1] = part;
    }
  }
  return parts;
}

function compareParts(a: PartReading, b: PartReading): number {
  return a.identity - b.identity || (b.bytes ?? -1) - (a.bytes ?? -1);
}
