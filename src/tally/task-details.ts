import type { PlainSample } from '../metrics/family.ts';
import type { Instant } from './instant.ts';
import type { Ledger, TaskObserver } from './ledger.ts';
import { labelValue } from './label-values.ts';
import type { TaskReading } from './listing-tally.ts';
import { recordOf } from '../record-of.ts';

/** The families per task. */
export const TASK_FAMILIES = [
  'taskInfo',
  'taskInputBytes',
  'taskHttpOutputBytes',
  'taskHttpConnections',
  'taskStalled',
  'taskProgress',
  'taskFirstSeen',
] as const;

export type TaskFamily = (typeof TASK_FAMILIES)[number];

/** A counter of a task as it is kept from one process to the next; `created` in seconds since the Unix epoch. */
interface KeptTaskCounter {
  readonly total: number;
  readonly created: number;
}

/** What is kept of a task from one process to the next. */
export interface KeptDetail {
  readonly input: KeptTaskCounter;
  readonly outputs: Iterable<readonly [format: string, counter: KeptTaskCounter]>;
}

interface TaskCounter {
  total: number;
  /** Exposed at 0 in the listing that it first appears in, as every counter. */
  isNewborn: boolean;
  readonly created: number;
}

interface TaskDetail {
  readonly label: string;
  readonly input: TaskCounter;
  readonly outputs: Map<string, TaskCounter>;
}

/**
 * What is exposed of single tasks, up to a number of them: the first to come keep their places until they end.
 */
export class TaskDetails implements TaskObserver {
  readonly #maxTasks: number;
  readonly #details = new Map<string, TaskDetail>();
  readonly #labels = new Set<string>();
  #created = 0;
  /** Tasks of the last listing that found no place. */
  leftOut = 0;

  constructor(maxTasks: number) {
    this.#maxTasks = maxTasks;
  }

  /** Begins a commit: tasks that ended give their places to new ones. */
  begin(readings: ReadonlyMap<string, TaskReading>, at: Instant): void {
    this.#created = at.wallMs / 1000;
    for (const [id, detail] of this.#details) {
      for (const counter of [detail.input, ...detail.outputs.values()]) counter.isNewborn = false;
      if (!readings.has(id)) this.#remove(id, detail);
    }
    for (const id of readings.keys()) {
      if (this.#details.size >= this.#maxTasks) break;
      if (!this.#details.has(id)) this.#admit(id);
    }
    this.leftOut = readings.size - this.#details.size;
  }

  /** The tasks that have a place. */
  get kept(): Iterable<readonly [taskId: string, detail: KeptDetail]> {
    return this.#details;
  }

  /** Takes a task that had a place in an earlier process, while there is room. */
  restore(taskId: string, { input, outputs }: KeptDetail): void {
    const label = labelValue(taskId);
    if (this.#details.size >= this.#maxTasks || this.#labels.has(label)) return;
    const counters = [...outputs].map(([format, { total, created }]): [string, TaskCounter] => [
      format,
      { total, isNewborn: false, created },
    ]);
    this.#labels.add(label);
    this.#details.set(taskId, {
      label,
      input: { total: input.total, isNewborn: false, created: input.created },
      outputs: new Map(counters),
    });
  }

  input(taskId: string, bytes: number): void {
    const detail = this.#details.get(taskId);
    if (detail !== undefined) detail.input.total += bytes;
  }

  output(taskId: string, format: string, bytes: number): void {
    const detail = this.#details.get(taskId);
    if (detail === undefined) return;
    const counter = detail.outputs.get(format) ?? this.#newCounter();
    detail.outputs.set(format, counter);
    counter.total += bytes;
  }

  /** The samples of all families, after the ledger has taken the same readings. */
  samples(
    serviceCode: string,
    readings: ReadonlyMap<string, TaskReading>,
    ledger: Ledger,
  ): Record<TaskFamily, PlainSample[]> {
    const families = recordOf(TASK_FAMILIES, (): PlainSample[] => []);
    for (const [id, detail] of this.#details) {
      const reading = readings.get(id);
      const known = ledger.task(id);
      if (reading === undefined || known === undefined) continue;
      const labels = [serviceCode, detail.label];
      families.taskInfo.push({ labels: labels.concat(describe(reading)), value: 1 });
      families.taskInputBytes.push(counterSample(labels, detail.input));
      for (const [format, counter] of detail.outputs) {
        families.taskHttpOutputBytes.push(counterSample(labels.concat(format), counter));
      }
      for (const [format, connections] of connectionsByFormat(reading)) {
        families.taskHttpConnections.push({ labels: labels.concat(format), value: connections });
      }
      families.taskStalled.push({ labels, value: known.isStalled ? 1 : 0 });
      families.taskProgress.push({ labels, value: reading.progress ?? 0 });
      families.taskFirstSeen.push({ labels, value: known.firstSeen.wallMs / 1000 });
    }
    return families;
  }

  #admit(id: string): void {
    const label = labelValue(id);
    // Ids that only differ beyond what a label holds would be one series twice.
    if (this.#labels.has(label)) return;
    this.#labels.add(label);
    this.#details.set(id, { label, input: this.#newCounter(), outputs: new Map() });
  }

  #remove(id: string, detail: TaskDetail): void {
    this.#details.delete(id);
    this.#labels.delete(detail.label);
  }

  #newCounter(): TaskCounter {
    return { total: 0, isNewborn: true, created: this.#created };
  }
}

function counterSample(labels: readonly string[], counter: TaskCounter): PlainSample {
  return { labels, value: counter.isNewborn ? 0 : counter.total, created: counter.created };
}

/** The info labels behind the task id: server, formats, whether it merges. */
function describe(reading: TaskReading): string[] {
  const formats = new Set(reading.outputs.map((output) => output.format));
  return [reading.vsId, labelValue([...formats].toSorted().join(',')), String(reading.isMerging)];
}

function connectionsByFormat(reading: TaskReading): Map<string, number> {
  const connections = new Map<string, number>();
  for (const output of reading.outputs) {
    connections.set(output.format, (connections.get(output.format) ?? 0) + output.connections);
  }
  return connections;
}
