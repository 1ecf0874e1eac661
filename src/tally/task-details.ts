import type { LabelSet } from '../families/label-set.ts';
import type { TaskIncrease } from './ledger/ledger.ts';
import type { FamilyOf, TaskGroupName } from '../listing/label-groups.ts';
import { OTHER, sanitizeLabelValue, UNKNOWN } from '../listing/label-values.ts';
import type { Listing, TaskReading } from '../listing/listing.ts';
import { labelIndexOf, TextRows, type RowsOf } from '../listing/rows.ts';
import { hasFlag, TaskFlag, type TaskAccount } from './ledger/task-account.ts';

const FORMAT = labelIndexOf('outputs', 'format');

/** Names of one service code that are told apart, besides the expected ones. */
const MAX_NAMES = 1000;

export type PersistedTaskDetail = readonly [
  taskId: string,
  inputTotal: number,
  outputs: readonly (readonly [format: string, total: number])[],
];

/** So many formats of one task are kept, listed or not; of a task with many outputs, two for each output. */
const MIN_FORMATS = 8;

interface TaskDetail {
  readonly id: string;
  isNew: boolean;
  inputTotal: number;
  readonly outputTotals: Map<string, number>;
  /** Formats that this listing brought. */
  readonly newFormats: Set<string>;
  reading: TaskReading | undefined;
}

interface TaskLookup {
  getTask(id: string): TaskAccount | undefined;
}

/**
 * The families per task, of the first tasks of a code. A free place goes to the first listed task without.
 */
export class TaskDetails {
  readonly #maxTasks: number;
  /** Names that are told apart, the longest absent first. */
  readonly #names = new Set<string>();
  #expectedNames: ReadonlySet<string> = new Set();
  readonly #details = new Map<string, TaskDetail>();
  /** The labels of outputs in the last listing, by row. */
  #outputLabels: readonly LabelSet[] = [];
  omittedCount = 0;

  constructor(maxTasks: number) {
    this.#maxTasks = maxTasks;
  }

  /** Selects the tasks of a listing, before the ledger takes it. */
  beginCommit(
    { tasks: readings, rows }: Pick<Listing, 'tasks' | 'rows'>,
    expectedNames: readonly string[],
  ): void {
    this.#expectedNames = new Set(expectedNames);
    this.#outputLabels = rows.outputs.labelSets;
    for (const id of this.#details.keys()) if (!readings.has(id)) this.#details.delete(id);
    const names = new Set<string>();
    for (const [id, reading] of readings) {
      const known = this.#details.get(id);
      if (known === undefined && this.#details.size >= this.#maxTasks) continue;
      const detail = known ?? this.#createDetail(id);
      detail.isNew = known === undefined;
      detail.newFormats.clear();
      detail.reading = reading;
      const { name } = reading;
      if (name !== undefined && !this.#expectedNames.has(name)) names.add(name);
    }
    this.omittedCount = readings.size - this.#details.size;
    this.#keepNames(names);
  }

  /** A name of this listing takes the place of one that is absent. */
  #keepNames(names: ReadonlySet<string>): void {
    for (const name of names) if (this.#names.delete(name)) this.#names.add(name);
    for (const name of names) {
      if (this.#names.has(name)) continue;
      const [first = name] = this.#names;
      if (this.#names.size >= MAX_NAMES && !names.has(first)) this.#names.delete(first);
      if (this.#names.size < MAX_NAMES) this.#names.add(name);
    }
  }

  *exportDetails(): Generator<PersistedTaskDetail, void> {
    for (const [id, { inputTotal, outputTotals }] of this.#details) yield [id, inputTotal, [...outputTotals]];
  }

  /** Restores a task that an earlier process exposed, up to the limit. */
  restore([taskId, inputTotal, outputs]: PersistedTaskDetail): void {
    if (this.#details.size >= this.#maxTasks) return;
    const detail = this.#createDetail(taskId, inputTotal);
    for (const [format, total] of outputs) detail.outputTotals.set(format, total);
  }

  add({ id, outputs }: TaskReading, { inputBytes = 0, outputBytes }: TaskIncrease): void {
    const detail = this.#details.get(id);
    if (detail === undefined) return;
    detail.inputTotal += inputBytes;
    const { outputTotals, newFormats } = detail;
    for (const [index, { outputRow }] of outputs.entries()) {
      const format = this.#getFormat(outputRow);
      if (!outputTotals.has(format)) newFormats.add(format);
      outputTotals.set(format, (outputTotals.get(format) ?? 0) + (outputBytes[index] ?? 0));
    }
    if (outputTotals.size > Math.max(MIN_FORMATS, 2 * outputs.length))
      this.#forgetFormats(outputTotals, outputs);
  }

  /** The rows of the exposed tasks, after the ledger took the same readings; before, counters alone. */
  collect(ledger: TaskLookup): RowsOf<TaskGroupName> {
    const taskInfos = new TextRows('taskInfos');
    const singleTasks = new TextRows('singleTasks');
    const taskFormats = new TextRows('taskFormats');
    const newTasks: number[] = [];
    const newFormats: number[] = [];
    for (const { id, isNew, inputTotal, outputTotals, newFormats: brought, reading } of this.#listExposed(
      ledger,
    )) {
      const account = reading && ledger.getTask(id);
      const isListed = reading !== undefined && account !== undefined;
      const connections = isListed ? this.#sumConnectionsByFormat(reading) : new Map<string, number>();
      const gauges = isListed ? readGauges(reading, account) : NO_GAUGES;
      const row = singleTasks.set({ taskInputBytes: inputTotal, ...gauges }, id);
      if (isNew) newTasks.push(row);
      for (const format of new Set([...outputTotals.keys(), ...connections.keys()])) {
        const numbers = {
          taskHttpOutputBytes: outputTotals.get(format) ?? 0,
          taskHttpConnections: connections.get(format) ?? Number.NaN,
        };
        const formatRow = taskFormats.set(numbers, id, format);
        if (brought.has(format)) newFormats.push(formatRow);
      }
      if (!isListed) continue;
      const info = listInfoLabels(reading, connections.keys());
      taskInfos.set({ taskInfo: 1 }, id, ...info, ...this.#listNameLabels(reading));
    }
    return {
      taskInfos,
      singleTasks: { ...singleTasks, newRows: newTasks },
      taskFormats: { ...taskFormats, newRows: newFormats },
    };
  }

  /** A task of the last listing without an account is not exposed. */
  *#listExposed(ledger: TaskLookup): Generator<TaskDetail, void> {
    for (const detail of this.#details.values()) {
      const { id, reading } = detail;
      if (reading === undefined || ledger.getTask(id) !== undefined) yield detail;
    }
  }

  /** No label for a task without a name. Expected names never fold. */
  #listNameLabels({ name }: TaskReading): readonly string[] {
    if (name === undefined) return [];
    return [this.#expectedNames.has(name) || this.#names.has(name) ? name : OTHER];
  }

  #sumConnectionsByFormat({ outputs }: TaskReading): Map<string, number> {
    const sums = new Map<string, number>();
    for (const { outputRow, connections } of outputs) {
      const format = this.#getFormat(outputRow);
      sums.set(format, (sums.get(format) ?? 0) + connections);
    }
    return sums;
  }

  #getFormat(outputRow: number): string {
    return this.#outputLabels[outputRow]?.[FORMAT] ?? UNKNOWN;
  }

  /** Forgets formats that the task no longer lists, the first ones first, while there are too many. */
  #forgetFormats(outputTotals: Map<string, number>, outputs: TaskReading['outputs']): void {
    const listed = new Set(outputs.map(({ outputRow }) => this.#getFormat(outputRow)));
    for (const format of outputTotals.keys()) {
      if (outputTotals.size <= Math.max(MIN_FORMATS, 2 * outputs.length)) return;
      if (!listed.has(format)) outputTotals.delete(format);
    }
  }

  #createDetail(id: string, inputTotal = 0): TaskDetail {
    const detail: TaskDetail = {
      id,
      isNew: false,
      inputTotal,
      outputTotals: new Map(),
      newFormats: new Set(),
      reading: undefined,
    };
    this.#details.set(id, detail);
    return detail;
  }
}

type TaskGauges = Readonly<Record<Exclude<FamilyOf<'singleTasks'>, 'taskInputBytes'>, number>>;

/** The totals of a restored task before the first listing. */
const NO_GAUGES: TaskGauges = {
  taskStalled: Number.NaN,
  taskProgress: Number.NaN,
  taskFirstSeen: Number.NaN,
};

function readGauges({ progress = 0 }: TaskReading, account: TaskAccount): TaskGauges {
  return {
    taskStalled: hasFlag(account, TaskFlag.isStalled) ? 1 : 0,
    taskProgress: progress,
    taskFirstSeen: account.firstSeen.wallMs / 1000,
  };
}

/** The info labels behind the task id: server, formats, whether it merges. */
function listInfoLabels({ vsId, inputCount }: TaskReading, formats: Iterable<string>): string[] {
  return [vsId, sanitizeLabelValue([...formats].toSorted().join(',')), String(inputCount > 1)];
}
