import type { SampleColumns } from '../metrics/catalogue/sample-columns.ts';
import { recordOf } from '../runtime/record-of.ts';
import { TASK_FAMILIES, type TaskFamily } from './family-keys.ts';
import { toRow, type NewCounter } from './limited-families.ts';
import type { Instant } from './instant.ts';
import type { Sums } from '../listing/families.ts';
import { OTHER, sanitizeLabelValue, UNKNOWN } from '../listing/label-values.ts';
import type { Listing, TaskReading } from '../listing/listing.ts';
import { hasFlag, TaskFlag, type TaskAccount } from './ledger/task-account.ts';
import { SampleCache, type SampleRow } from './sample-cache.ts';
import { SlotTable } from './slot-table.ts';

/** Names of one service code that are told apart, besides the expected ones. */
const MAX_NAMES = 1000;

/** Tasks of an earlier process have been seen before all others. */
const RESTORED: Instant = { wallMs: 0, monotonicMs: 0 };

/** The totals of a task's counters as they are persisted. */
export type PersistedTaskDetail = readonly [
  taskId: string,
  inputTotal: number,
  outputs: readonly (readonly [format: string, total: number])[],
];

interface TaskDetail {
  readonly label: string;
  readonly input: NewCounter;
  readonly outputs: Map<string, NewCounter>;
  /** The task in this listing. */
  reading: TaskReading | undefined;
}

/** A task that competes for a slot, by its id. */
interface TaskItem {
  readonly key: string;
  readonly reading: TaskReading;
}

/**
 * The families per task, for a limited number of tasks: those with the most connections, then those with the highest
 * input.
 */
export class TaskDetails {
  readonly #maxTasks: number;
  readonly #slots: SlotTable<TaskItem>;
  readonly #nameSlots = new SlotTable({ capacity: MAX_NAMES });
  #expectedNames: ReadonlySet<string> = new Set();
  readonly #sampleCaches: Readonly<Record<TaskFamily, SampleCache>>;
  readonly #details = new Map<string, TaskDetail>();
  /** When the last listing was taken; `undefined` while this process has taken none, so that scrapes have seen all totals. */
  #committedAt: Instant | undefined;
  /** Those of the last listing: their labels are the formats of its outputs. */
  #outputSums: Sums['outputs'] | undefined;
  /** Tasks of the last listing that are not exposed. */
  omittedCount = 0;

  constructor(serviceCode: string, maxTasks: number) {
    this.#maxTasks = maxTasks;
    this.#slots = new SlotTable({
      capacity: maxTasks,
      getSize: ({ reading }) => [reading.connections, sumInputBytes(reading)],
      canReplacePresent: true,
    });
    this.#sampleCaches = recordOf(TASK_FAMILIES, () => new SampleCache(serviceCode));
  }

  /** Selects the tasks of a listing, before the ledger takes it. */
  beginCommit(
    { tasks: readings, sums }: Pick<Listing, 'tasks' | 'sums'>,
    expectedNames: readonly string[],
    at: Instant,
  ): void {
    this.#committedAt = at;
    this.#expectedNames = new Set(expectedNames);
    this.#outputSums = sums.outputs;
    const items = Array.from(readings, ([key, reading]): TaskItem => ({ key, reading }));
    this.#slots.assign(items, at);
    for (const id of this.#details.keys())
      if (!readings.has(id) || !this.#slots.has(id)) this.#details.delete(id);
    const names = new Set<string>();
    for (const { key, reading } of items) {
      if (!this.#slots.has(key)) continue;
      const detail = this.#details.get(key) ?? this.#createDetail(key);
      detail.reading = reading;
      const { name } = reading;
      if (name !== undefined && !this.#expectedNames.has(name)) names.add(name);
    }
    this.omittedCount = readings.size - this.#details.size;
    this.#nameSlots.assign(
      Array.from(names, (key) => ({ key })),
      at,
    );
  }

  /** The counters of the tasks that are exposed. */
  *exportDetails(): Generator<PersistedTaskDetail, void> {
    for (const [id, { input, outputs }] of this.#details)
      yield [id, input.total, Array.from(outputs, ([format, { total }]) => [format, total])];
  }

  /** Restores a task that an earlier process exposed, up to the limit. */
  restore([taskId, inputTotal, outputs]: PersistedTaskDetail): void {
    if (this.#details.size >= this.#maxTasks) return;
    this.#slots.restore(taskId, RESTORED);
    const detail = this.#createDetail(taskId, inputTotal);
    for (const [format, total] of outputs) detail.outputs.set(format, this.#createCounter(total));
  }

  /** Adds what a task gained. */
  addInput(task: TaskReading, bytes: number): void {
    const detail = this.#details.get(task.id);
    if (detail !== undefined) detail.input.total += bytes;
  }

  addOutput(task: TaskReading, format: string, bytes: number): void {
    const detail = this.#details.get(task.id);
    if (detail === undefined) return;
    const counter = detail.outputs.get(format) ?? this.#createCounter();
    detail.outputs.set(format, counter);
    counter.total += bytes;
  }

  /**
   * The samples of all families, after the ledger has taken the same readings; `served` is the commit that the last scrape
   * was answered with.
   */
  collect(
    ledger: { getTask(id: string): TaskAccount | undefined },
    served: Instant | undefined,
  ): Record<TaskFamily, SampleColumns> {
    const families = recordOf(TASK_FAMILIES, (): SampleRow[] => []);
    const exposedLabels = new Set<string>();
    for (const detail of this.#details.values()) {
      const { reading, label } = detail;
      const account = reading && ledger.getTask(reading.id);
      // Ids that differ only beyond the length of a label value would be one series twice.
      if (reading === undefined || account === undefined || exposedLabels.has(label)) continue;
      exposedLabels.add(label);
      const labels = [label];
      const connectionsByFormat = this.#sumConnectionsByFormat(reading);
      const info = listInfoLabels(reading, connectionsByFormat.keys());
      families.taskInfo.push({ labels: labels.concat(info, this.#listNameLabels(reading)), value: 1 });
      families.taskInputBytes.push(toRow(labels, detail.input, served));
      for (const [format, counter] of detail.outputs)
        families.taskHttpOutputBytes.push(toRow(labels.concat(format), counter, served));
      for (const [format, connections] of connectionsByFormat)
        families.taskHttpConnections.push({ labels: labels.concat(format), value: connections });
      families.taskStalled.push({ labels, value: hasFlag(account, TaskFlag.isStalled) ? 1 : 0 });
      families.taskProgress.push({ labels, value: reading.progress ?? 0 });
      families.taskFirstSeen.push({ labels, value: account.firstSeen.wallMs / 1000 });
    }
    return recordOf(TASK_FAMILIES, (family) => this.#sampleCaches[family].update(families[family]));
  }

  /** No label for a task without a name. Expected names never fold. */
  #listNameLabels({ name }: TaskReading): readonly string[] {
    if (name === undefined) return [];
    return [this.#expectedNames.has(name) || this.#nameSlots.has(name) ? name : OTHER];
  }

  #sumConnectionsByFormat({ outputs }: TaskReading): Map<string, number> {
    const sums = new Map<string, number>();
    for (const { outputRow, connections } of outputs) {
      const format = this.#outputSums?.getLabel(outputRow, 'format') ?? UNKNOWN;
      sums.set(format, (sums.get(format) ?? 0) + connections);
    }
    return sums;
  }

  #createDetail(id: string, inputTotal?: number): TaskDetail {
    const label = sanitizeLabelValue(id);
    const input = this.#createCounter(inputTotal);
    const detail: TaskDetail = { label, input, outputs: new Map(), reading: undefined };
    this.#details.set(id, detail);
    return detail;
  }

  #createCounter(total = 0): NewCounter {
    return { total, unseenSince: this.#committedAt };
  }
}

function sumInputBytes({ inputBytes, inputs }: TaskReading): number {
  return inputBytes ?? inputs.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}

/** The info labels behind the task id: server, formats, whether it merges. */
function listInfoLabels({ vsId, inputCount }: TaskReading, formats: Iterable<string>): string[] {
  return [vsId, sanitizeLabelValue([...formats].toSorted().join(',')), String(inputCount > 1)];
}
