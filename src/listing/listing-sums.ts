import { recordOf } from '../families/record-of.ts';
import { ColumnReader, type HashKey } from '../json-columns/column-reader.ts';
import { LabelValues } from '../json-columns/label-values.ts';
import { Batch } from './batch.ts';
import {
  familiesOf,
  LABEL_GROUPS,
  NAMED_VALUES,
  RECORD_GROUPS,
  type FamilyOf,
  type RecordGroupName,
} from './label-groups.ts';
import { MISSING_ID, OTHER, OTHER_ID, sanitizeLabelValue, UNKNOWN } from './label-values.ts';
import type {
  AccountReservations,
  Listing,
  ListingOptions,
  ListingRows,
  OutputReading,
  SurplusItem,
} from './listing.ts';
import { PictureSizes } from './picture-sizes.ts';
import { computeLabelLimits, type ReaderLimits } from './reader-limits.ts';
import { Rejections } from './rejections.ts';
import { RowTable, type RowTableKey } from './row-table.ts';
import { TextRows } from './rows.ts';
import {
  createTaskListTable,
  parseInputProtocol,
  type RecordKind,
  type TaskListTable,
  type Tasks,
} from './task-list.ts';
import type { TaskNameField } from './task-name.ts';
import { readOutput, sortParts, TaskReadings, type TaskRows } from './task-readings.ts';

/** Values of a field of the kind `match` that is present. */
const POLLED_TEXT = 1;
const OTHER_TEXT = 2;

type Tables = { readonly [G in RecordGroupName]: RowTable<FamilyOf<G>> };

interface Position {
  readonly task: number;
  readonly input: number;
  readonly output: number;
}

/** Random bits for the hashes of the engine and of the rows. */
export interface ReaderKeys {
  readonly engine: HashKey;
  readonly rows: RowTableKey;
}

/**
 * An instance of the engine, and the sums of the columns of the listing that it reads: everything that a
 * `task_list` response means. It reads one listing at a time.
 */
export class ListingSums {
  users = 0;
  taskCount = 0;
  /** The body's `ret`; `undefined` until it is read. */
  ret: number | undefined;
  readonly nameField: TaskNameField | undefined;
  readonly reader: ColumnReader;
  readonly #table: TaskListTable;
  readonly #labelValues = new LabelValues([UNKNOWN, OTHER, ...NAMED_VALUES], sanitizeLabelValue);
  readonly #sizes: PictureSizes;
  readonly #batch: Batch;
  readonly #tables: Tables;
  readonly #readings: TaskReadings;
  readonly #rejections: Rejections;
  readonly #foreign = { user: 0, task: 0 };
  #ofPolledCode = 0;
  readonly #surplus = { input: 0, output: 0, stream: 0 };

  constructor(
    module: WebAssembly.Module,
    limits: ReaderLimits,
    keys: ReaderKeys,
    nameField: TaskNameField | undefined,
  ) {
    const table = createTaskListTable(limits.maxParts, nameField);
    const labelValues = this.#labelValues;
    const engineLimits = { ...limits, ...computeLabelLimits(limits) };
    this.nameField = nameField;
    this.#table = table;
    this.reader = new ColumnReader(module, table.body, engineLimits, keys.engine, {
      labelValues,
      nameScheme: parseInputProtocol,
      takeScalar: (value) => this.#takeRet(value),
      noteRejected: (type, reason, entry) => this.#rejections.noteElement(type, reason, entry),
      takeBatch: () => this.#takeBatch(),
    });
    this.#sizes = new PictureSizes(labelValues, limits.maxLabelSets, keys.rows);
    this.#batch = new Batch(this.reader, table, labelValues, this.#sizes);
    this.#tables = recordOf<Tables>(RECORD_GROUPS, (group) => {
      const { of, labels, amounts } = LABEL_GROUPS[group];
      const sources = Object.values(labels).map((source) => this.#batch.labelsOf(of, source));
      const summed = this.#batch.listAmounts(of, amounts);
      return new RowTable(familiesOf(group), sources, summed, limits.maxLabelSets, keys.rows);
    });
    this.#readings = new TaskReadings(this.reader, table, labelValues, limits.maxAccounts);
    this.#rejections = new Rejections(this.reader, table);
  }

  begin(options: ListingOptions, reservations: AccountReservations | undefined): void {
    this.reader.begin(options.serviceCode);
    this.#readings.begin(options, reservations);
    for (const table of Object.values(this.#tables)) table.clear();
    this.#sizes.clear();
    this.#rejections.clear();
    this.ret = undefined;
    this.users = 0;
    this.taskCount = 0;
    Object.assign(this.#foreign, { user: 0, task: 0 });
    this.#ofPolledCode = 0;
    Object.assign(this.#surplus, { input: 0, output: 0, stream: 0 });
  }

  release(): void {
    this.#readings.release();
  }

  /** "Response object", `ret`: an integer, or a string of digits. */
  #takeRet(value: unknown): boolean {
    const number = typeof value === 'string' && /^-?[0-9]+$/.test(value) ? Number(value) : value;
    if (!Number.isSafeInteger(number)) return false;
    this.ret = Number(number);
    return true;
  }

  #takeBatch(): void {
    this.#batch.begin();
    for (const group of RECORD_GROUPS)
      this.#tables[group].beginBatch(this.#batch.columns[LABEL_GROUPS[group].of].rows);
    const { user, task } = this.#batch.columns;
    if (user.rows > 0) this.#addUsers();
    if (task.rows > 0) this.#addTasks(task);
  }

  finish(): Listing {
    return {
      users: this.users,
      taskCount: this.taskCount,
      tasks: this.#readings.finish(),
      rows: this.#listRows(),
      firstRejected: this.#rejections.listFirst(),
      ofPolledCode: this.#ofPolledCode,
    };
  }

  #addUsers(): void {
    const { rows, service_code } = this.#batch.columns.user;
    this.#sumUp('user', 0, rows);
    for (let row = 0; row < rows; row += 1) this.#countCode('user', service_code[row]);
    this.users += rows;
  }

  /** A rejected task counts in no sum, so the tasks between two rejected ones are added up together. */
  #addTasks(tasks: Tasks): void {
    let first: Position = { task: 0, input: 0, output: 0 };
    let inputsEnd = 0;
    let outputsEnd = 0;
    for (let row = 0; row < tasks.rows; row += 1) {
      const [firstInput, firstOutput] = [inputsEnd, outputsEnd];
      inputsEnd = tasks.inputs.ends[row] ?? 0;
      outputsEnd = tasks.outputs.ends[row] ?? 0;
      if (this.#readTask(tasks, { row, firstInput, inputsEnd, firstOutput, outputsEnd })) continue;
      this.#addRange(first, { task: row, input: firstInput, output: firstOutput });
      first = { task: row + 1, input: inputsEnd, output: outputsEnd };
    }
    this.#addRange(first, { task: tasks.rows, input: inputsEnd, output: outputsEnd });
  }

  /** Reads a task for the ledger; returns whether it counts in sums. */
  #readTask(tasks: Tasks, rows: TaskRows): boolean {
    const { row, firstOutput, outputsEnd } = rows;
    const { outputs, renditions } = this.#tables;
    const id = this.#readings.readId(row);
    if (sanitizeLabelValue(id) !== id) {
      this.#rejections.addTask('invalid_id', tasks.entry[row] ?? 0);
      return false;
    }
    if (this.#readings.has(id)) {
      this.#rejections.addTask('duplicate_id', tasks.entry[row] ?? 0);
      return false;
    }
    this.#rejections.countNested(tasks, row, this.#batch.columns.output, firstOutput, outputsEnd);
    outputs.findAll(firstOutput, outputsEnd);
    renditions.findAll(firstOutput, outputsEnd);
    if (this.#readings.reserve(rows)) this.#readings.add(rows, id, this.#readOutputs(rows));
    return true;
  }

  #readOutputs({ firstOutput, outputsEnd }: TaskRows): OutputReading[] {
    const { outputs, renditions } = this.#tables;
    const columns = this.#batch.columns.output;
    // An array of this length, without room to grow, takes a quarter of the memory; `Array.from` is ten times
    // as slow.
    // oxlint-disable-next-line unicorn/no-new-array
    const readings = new Array<OutputReading>(outputsEnd - firstOutput);
    for (let row = firstOutput; row < outputsEnd; row += 1) {
      const connections = Math.max(0, columns.http_connections_num[row] ?? 0);
      const [outputRow = 0, renditionRow = 0] = [outputs.found[row], renditions.found[row]];
      readings[row - firstOutput] = readOutput(columns, row, connections, outputRow, renditionRow);
    }
    return sortParts(readings);
  }

  #addRange(first: Position, end: Position): void {
    if (first.task === end.task) return;
    const { ends } = this.#batch.columns.output.streams;
    const firstStream = first.output === 0 ? 0 : (ends[first.output - 1] ?? 0);
    const streamsEnd = end.output === 0 ? 0 : (ends[end.output - 1] ?? 0);
    this.#sumUp('task', first.task, end.task);
    this.#sumUp('input', first.input, end.input);
    this.#sumUp('output', first.output, end.output);
    this.#sumUp('stream', firstStream, streamsEnd);
    this.#countTasks(first, end);
  }

  /** Adds the entries of a kind from `first` to `end` to all of their sums. */
  #sumUp(kind: RecordKind, first: number, end: number): void {
    for (const group of RECORD_GROUPS) {
      if (LABEL_GROUPS[group].of !== kind) continue;
      const table = this.#tables[group];
      // `#readTask` has found the rows of these, which the readings of outputs refer to.
      if (group === 'outputs' || group === 'renditions') table.addAll(first, end);
      else table.sumAll(first, end);
    }
  }

  #countTasks(first: Position, end: Position): void {
    const { service_code, inputs, outputs } = this.#batch.columns.task;
    const { streams } = this.#batch.columns.output;
    for (let row = first.task; row < end.task; row += 1) {
      this.#countCode('task', service_code[row]);
      this.#surplus.input += inputs.surplus[row] ?? 0;
      this.#surplus.output += outputs.surplus[row] ?? 0;
    }
    for (let row = first.output; row < end.output; row += 1)
      this.#surplus.stream += streams.surplus[row] ?? 0;
    this.taskCount += end.task - first.task;
  }

  #listRows(): ListingRows {
    const { userServers, taskServers } = this.#tables;
    // A server that has users but no tasks, or the reverse, has a row at 0 in the other group.
    addServers(userServers, taskServers);
    addServers(taskServers, userServers);
    const rows = recordOf<Pick<ListingRows, RecordGroupName>>(RECORD_GROUPS, (group) =>
      this.#tables[group].toRows(this.#labelValues),
    );
    return Object.assign(rows, {
      invalidRecords: this.#rejections.countRecords(),
      invalidFields: this.#rejections.countFields(),
      foreignRecords: this.#listForeign(),
      listingSurplus: this.#listSurplus(),
    });
  }

  #countCode(record: 'user' | 'task', match: number | undefined): void {
    if (match === POLLED_TEXT) this.#ofPolledCode += 1;
    else if (match === OTHER_TEXT) this.#foreign[record] += 1;
  }

  #listForeign(): TextRows<'foreignRecords'> {
    const rows = new TextRows('foreignRecords');
    for (const [record, count] of Object.entries(this.#foreign))
      if (count > 0) rows.set({ foreignRecords: count }, record);
    return rows;
  }

  #listSurplus(): TextRows<'listingSurplus'> {
    const { task, account } = this.#readings.surplus;
    const counts: Readonly<Record<SurplusItem, number>> = {
      user: this.reader.surplusOf(this.#table.user),
      task: task + this.reader.surplusOf(this.#table.task),
      account,
      ...this.#surplus,
      label_set: Object.values(this.#tables).reduce((sum, { surplus }) => sum + surplus, 0),
      label_value: this.reader.surplusLabels,
    };
    const rows = new TextRows('listingSurplus');
    for (const [item, count] of Object.entries(counts))
      if (count > 0) rows.set({ listingSurplus: count }, item);
    return rows;
  }
}

function addServers(from: RowTable, to: RowTable): void {
  for (let row = 0; row < from.rows; row += 1) {
    const server = from.labelAt(row, 0);
    if (server !== MISSING_ID && server !== OTHER_ID) to.findOne(server);
  }
}
