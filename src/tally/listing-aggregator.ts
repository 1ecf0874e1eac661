import { UNKNOWN } from '../listing/label-values.ts';
import type {
  ForeignCount,
  InvalidCount,
  InvalidFieldCount,
  ListingSink,
  ListingTotals,
  Row,
  SurplusCount,
  TaskReading,
} from '../listing/listing-sink.ts';
import type { Accumulator, AccumulatorPool } from './accumulator-pool.ts';
import type { ListingGauge } from './family-keys.ts';
import type { LabelSums } from './label-sums.ts';
import { LargestTasks } from './notable-tasks.ts';
import { OutputSums } from './output-sums.ts';
import { TaskIndex } from './task-index.ts';

const CONNECTION_THRESHOLDS = [1, 10, 100, 1000, 10_000];

/** The sums of one listing. Nothing is published until a `Tally` commits it. */
export interface ListingSums {
  readonly users: number;
  /** Tasks, those without accounts included. */
  readonly taskCount: number;
  /** Tasks with accounts. */
  readonly tasks: TaskIndex<TaskReading>;
  readonly accumulator: Accumulator;
  readonly outputSums: OutputSums;
  readonly gauges: Readonly<Record<ListingGauge, LabelSums>>;
  /** By their connections. */
  readonly mostWatched: LargestTasks<TaskReading>;
  /** Entries that were rejected. */
  readonly invalidCounts: readonly InvalidCount[];
  /** Fields that were invalid and count as missing. */
  readonly invalidFields: readonly InvalidFieldCount[];
  /** Records whose `service_code` is not the polled one. */
  readonly foreignRecords: readonly ForeignCount[];
  /** Counts of items beyond a limit of the reader. */
  readonly surplus: readonly SurplusCount[];
  /** Formats of which some output has connections. */
  readonly watchedFormats: ReadonlySet<string>;
  /** The servers that have users or tasks. */
  readonly servers: ReadonlySet<string>;
}

/** Adds what the reader reports of one listing to the sums by family. */
export class ListingAggregator implements ListingSink, ListingSums {
  readonly tasks = new TaskIndex<TaskReading>();
  readonly outputSums = new OutputSums();
  readonly mostWatched = new LargestTasks<TaskReading>();
  users = 0;
  taskCount = 0;
  invalidCounts: readonly InvalidCount[] = [];
  invalidFields: readonly InvalidFieldCount[] = [];
  foreignRecords: readonly ForeignCount[] = [];
  surplus: readonly SurplusCount[] = [];
  /** Tasks with at least as many connections, by threshold. */
  readonly #connectionCounts = CONNECTION_THRESHOLDS.map(() => 0);
  readonly #watchedFormats = new Set<string>();
  readonly #servers = new Set<string>();
  readonly #accumulators: AccumulatorPool;
  #accumulator: Accumulator | undefined;

  constructor(accumulators: AccumulatorPool) {
    this.#accumulators = accumulators;
  }

  /** Acquired with the first record: of many listings that are awaited, few are being read. */
  get accumulator(): Accumulator {
    this.#accumulator ??= this.#accumulators.acquire();
    return this.#accumulator;
  }

  get gauges(): Readonly<Record<ListingGauge, LabelSums>> {
    return this.accumulator.gauges;
  }

  get watchedFormats(): ReadonlySet<string> {
    return this.#watchedFormats;
  }

  get servers(): ReadonlySet<string> {
    return this.#servers;
  }

  setProgress(users: number, tasks: number): void {
    this.users = users;
    this.taskCount = tasks;
  }

  addTask(task: TaskReading): void {
    this.#countConnections(task.connections);
    this.tasks.add(task);
    if (task.connections > 0) this.mostWatched.offer(task, task.connections);
  }

  finish(totals: ListingTotals): void {
    this.setProgress(totals.users, totals.tasks);
    this.invalidCounts = totals.invalidRecords;
    this.invalidFields = totals.invalidFields;
    this.foreignRecords = totals.foreignRecords;
    this.surplus = totals.surplus;
    for (const row of totals.rows) this.#addRow(row);
    this.#countInvalid(totals);
    for (const [index, threshold] of CONNECTION_THRESHOLDS.entries()) {
      this.gauges.tasksByHttpConnections.at(String(threshold)).add(this.#connectionCounts[index] ?? 0);
    }
  }

  /** These counters appear with the first record or field that is not as it should be. */
  #countInvalid({ invalidRecords, invalidFields, foreignRecords, surplus }: ListingTotals): void {
    const { increases } = this.accumulator;
    for (const { record, reason, count } of invalidRecords)
      increases.invalidRecords.at(record).at(reason).add(count);
    for (const { record, field, count } of invalidFields)
      increases.invalidFields.at(record).at(field).add(count);
    for (const { record, count } of foreignRecords) increases.foreignRecords.at(record).add(count);
    for (const { item, count } of surplus) increases.listingSurplus.at(item).add(count);
  }

  #countConnections(connections: number): void {
    for (const [index, threshold] of CONNECTION_THRESHOLDS.entries()) {
      if (connections < threshold) return;
      this.#connectionCounts[index] = (this.#connectionCounts[index] ?? 0) + 1;
    }
  }

  #addRow({ index, family, labels, numbers }: Row): void {
    const { gauges } = this;
    const { increases } = this.accumulator;
    const [a, b, c] = labels;
    const [count] = numbers;
    switch (family) {
      case 'users':
        return gauges.onlineUsers.at(a).at(b).add(count);
      case 'servers':
        return this.#addServer(a, numbers);
      case 'inputs':
        return gauges.inputs.at(a).at(b).add(count);
      case 'input_clients':
        return gauges.inputClients.at(b).at(a).add(count);
      case 'outputs':
        this.outputSums.set(index, increases.httpOutputBytes.at(a).at(b));
        return this.#addOutputs(a, b, numbers);
      case 'renditions':
        this.outputSums.set(index, increases.renditionHttpOutputBytes.at(b).at(c).at(a));
        gauges.outputRenditions.at(b).at(c).at(a).add(count);
        return gauges.renditionHttpConnections.at(b).at(c).at(a).add(numbers[1]);
      case 'tags':
        return gauges.outputTags.at(a).add(count);
      case 'streams':
        return gauges.streams.at(a).at(b).at(c).add(count);
      case 'codecs':
        return gauges.streamCodecs.at(b).at(a).add(count);
      case 'bit_rates':
        return gauges.streamBitRate.at(a).at(b).add(count);
    }
  }

  #addServer(vsId: string | undefined, [users, tasks, withProgress, merging]: Row['numbers']): void {
    const { gauges } = this;
    if (vsId !== undefined && vsId !== UNKNOWN) this.#servers.add(vsId);
    if (users > 0) gauges.serverOnlineUsers.at(vsId).add(users);
    if (tasks === 0) return;
    gauges.tasks.at(vsId).add(tasks);
    gauges.tasksWithProgress.at(vsId).add(withProgress);
    gauges.tasksMerging.at(vsId).add(merging);
  }

  #addOutputs(
    vsId: string | undefined,
    format: string | undefined,
    [outputs, connections, withoutConnections]: Row['numbers'],
  ): void {
    const { gauges } = this;
    gauges.outputs.at(vsId).at(format).add(outputs);
    gauges.httpConnections.at(vsId).at(format).add(connections);
    gauges.outputsUnwatched.at(vsId).at(format).add(withoutConnections);
    if (connections > 0 && format !== undefined) this.#watchedFormats.add(format);
  }
}
