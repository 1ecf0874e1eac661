import type { LabelSet, SampleColumns } from '../metrics/sample-columns.ts';
import { recordOf } from '../runtime/record-of.ts';
import { TASK_FAMILIES, type TaskFamily } from './family-keys.ts';
import { sanitizeLabelValue } from '../listing/label-values.ts';
import type { TaskReading } from '../listing/listing-sink.ts';
import type { Ledger } from './ledger/ledger.ts';
import { hasFlag, TaskFlag } from './ledger/task-account.ts';
import { OutputSums } from './output-sums.ts';
import type { TaskObserver } from './task-observer.ts';
import { SampleBuffer } from './sample-buffer.ts';
import { SampleCache } from './sample-cache.ts';
import type { TaskIndex } from './task-index.ts';

/** A candidate replaces a present incumbent only if it is larger by this factor: the selection does not flap. */
const REPLACEMENT_FACTOR = 2;

/** The totals of a task's counters as they are persisted. */
export interface PersistedTaskDetail {
  readonly input: number;
  readonly outputs: Iterable<readonly [format: string, total: number]>;
}

interface TaskCounter {
  total: number;
  /** Whether it is exposed at 0, because this commit created it. */
  isNew: boolean;
}

interface TaskDetail {
  readonly label: string;
  readonly input: TaskCounter;
  readonly outputs: Map<string, TaskCounter>;
  /** The task in this listing. */
  reading: TaskReading | undefined;
}

interface TasksOfListing {
  readonly tasks: TaskIndex<TaskReading>;
  readonly outputSums: OutputSums;
}

/**
 * The families per task, for a limited number of tasks: those with the most connections, then those with the highest
 * input. Tasks are selected by id alone, because an id is the label of their series.
 */
export class TaskDetails implements TaskObserver {
  readonly #maxTasks: number;
  readonly #sampleCaches: Readonly<Record<TaskFamily, SampleCache>>;
  readonly #details = new Map<string, TaskDetail>();
  readonly #labels = new Set<string>();
  /** Those of the last listing: their labels are the formats of its outputs. */
  #outputSums = new OutputSums();
  /** Tasks of the last listing that are not exposed. */
  omittedCount = 0;

  constructor(serviceCode: string, maxTasks: number) {
    this.#maxTasks = maxTasks;
    this.#sampleCaches = recordOf(TASK_FAMILIES, () => new SampleCache(serviceCode));
  }

  /** Selects the tasks of a listing, before the ledger takes it. */
  beginCommit({ tasks: readings, outputSums }: TasksOfListing): void {
    this.#outputSums = outputSums;
    for (const [id, detail] of this.#details) {
      for (const counter of [detail.input, ...detail.outputs.values()]) counter.isNew = false;
      detail.reading = pickReading(readings.listById(id));
      if (detail.reading === undefined) this.#remove(id, detail);
    }
    const isCandidate = (reading: TaskReading): boolean =>
      !this.#details.has(reading.id) && pickReading(readings.listById(reading.id)) === reading;
    this.#select([...readings].filter(isCandidate));
    this.omittedCount = readings.size - this.#details.size;
  }

  /** The counters of the tasks that are exposed. */
  *exportDetails(): Generator<readonly [taskId: string, detail: PersistedTaskDetail], void> {
    for (const [id, { input, outputs }] of this.#details)
      yield [id, { input: input.total, outputs: [...outputs].map(([format, { total }]) => [format, total]) }];
  }

  /** Restores a task that an earlier process exposed, up to the limit. */
  restore(taskId: string, { input, outputs }: PersistedTaskDetail): void {
    const label = sanitizeLabelValue(taskId);
    if (this.#details.size >= this.#maxTasks || this.#labels.has(label)) return;
    const counters = [...outputs].map(([format, total]): [string, TaskCounter] => [
      format,
      { total, isNew: false },
    ]);
    this.#labels.add(label);
    this.#details.set(taskId, {
      label,
      input: { total: input, isNew: false },
      outputs: new Map(counters),
      reading: undefined,
    });
  }

  onInput(task: TaskReading, bytes: number): void {
    const detail = this.#getDetail(task);
    if (detail !== undefined) detail.input.total += bytes;
  }

  onOutput(task: TaskReading, format: string, bytes: number): void {
    const detail = this.#getDetail(task);
    if (detail === undefined) return;
    const found = detail.outputs.get(format);
    const counter = found ?? createCounter();
    detail.outputs.set(format, counter);
    counter.total += bytes;
  }

  /** The samples of all families, after the ledger has taken the same readings. */
  collect(ledger: Pick<Ledger, 'getTask'>): Record<TaskFamily, SampleColumns> {
    const families = recordOf(TASK_FAMILIES, () => new SampleBuffer());
    for (const detail of this.#details.values()) {
      const { reading } = detail;
      const account = reading && ledger.getTask(reading);
      if (reading === undefined || account === undefined) continue;
      const labels = [detail.label];
      const connectionsByFormat = this.#sumConnectionsByFormat(reading);
      families.taskInfo.add(labels.concat(listInfoLabels(reading, connectionsByFormat.keys())), 1);
      addCounter(families.taskInputBytes, labels, detail.input);
      for (const [format, counter] of detail.outputs) {
        addCounter(families.taskHttpOutputBytes, labels.concat(format), counter);
      }
      for (const [format, connections] of connectionsByFormat) {
        families.taskHttpConnections.add(labels.concat(format), connections);
      }
      families.taskStalled.add(labels, hasFlag(account, TaskFlag.isStalled) ? 1 : 0);
      families.taskProgress.add(labels, reading.progress ?? 0);
      families.taskFirstSeen.add(labels, account.firstSeen.wallMs / 1000);
    }
    return recordOf(TASK_FAMILIES, (family) => this.#sampleCaches[family].update(families[family]));
  }

  #sumConnectionsByFormat({ outputs }: TaskReading): Map<string, number> {
    const sums = new Map<string, number>();
    for (const { serverFormatRow, connections } of outputs) {
      const format = this.#outputSums.get(serverFormatRow).label;
      sums.set(format, (sums.get(format) ?? 0) + connections);
    }
    return sums;
  }

  #getDetail(task: TaskReading): TaskDetail | undefined {
    const detail = this.#details.get(task.id);
    return detail?.reading === task ? detail : undefined;
  }

  /** Adds candidates while there is room, the largest first; then replaces much smaller incumbents. */
  #select(candidates: TaskReading[]): void {
    const isShort = this.#details.size + candidates.length > this.#maxTasks;
    if (isShort) candidates.sort((a, b) => compareSize(b, a));
    const incumbents = isShort ? this.#listSmallestFirst().values() : [].values();
    for (const candidate of candidates) {
      if (this.#details.size >= this.#maxTasks) {
        const [id, incumbent] = incumbents.next().value ?? [];
        if (id === undefined || incumbent?.reading === undefined) return;
        if (!isMuchLarger(candidate, incumbent.reading)) return;
        this.#remove(id, incumbent);
      }
      this.#addTask(candidate);
    }
  }

  #listSmallestFirst(): [string, TaskDetail][] {
    return [...this.#details].toSorted(([, a], [, b]) =>
      a.reading === undefined || b.reading === undefined ? 0 : compareSize(a.reading, b.reading),
    );
  }

  #addTask(reading: TaskReading): void {
    const label = sanitizeLabelValue(reading.id);
    // Ids that differ only beyond the length of a label value would be one series twice.
    if (this.#labels.has(label)) return;
    this.#labels.add(label);
    this.#details.set(reading.id, { ...this.#createDetail(label), reading });
  }

  #remove(id: string, detail: TaskDetail): void {
    this.#details.delete(id);
    this.#labels.delete(detail.label);
  }

  #createDetail(label: string): TaskDetail {
    return {
      label,
      input: createCounter(),
      outputs: new Map(),
      reading: undefined,
    };
  }
}

function createCounter(): TaskCounter {
  return { total: 0, isNew: true };
}

/** One of the tasks of one id, the same whatever their order. */
function pickReading(readings: readonly TaskReading[]): TaskReading | undefined {
  return readings.length > 1 ? readings.toSorted((a, b) => (a.vsId < b.vsId ? -1 : 1))[0] : readings[0];
}

function sumInputBytes({ inputBytes, inputs }: TaskReading): number {
  return inputBytes ?? inputs.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}

function compareSize(a: TaskReading, b: TaskReading): number {
  return a.connections - b.connections || sumInputBytes(a) - sumInputBytes(b);
}

function isMuchLarger(candidate: TaskReading, incumbent: TaskReading): boolean {
  if (candidate.connections !== incumbent.connections)
    return candidate.connections > REPLACEMENT_FACTOR * incumbent.connections;
  return sumInputBytes(candidate) > REPLACEMENT_FACTOR * sumInputBytes(incumbent);
}

function addCounter(samples: SampleBuffer, labels: LabelSet, { isNew, total }: TaskCounter): void {
  samples.add(labels, isNew ? 0 : total);
}

/** The info labels behind the task id: server, formats, whether it merges. */
function listInfoLabels({ vsId, inputCount }: TaskReading, formats: Iterable<string>): string[] {
  return [vsId, sanitizeLabelValue([...formats].toSorted().join(',')), String(inputCount > 1)];
}
