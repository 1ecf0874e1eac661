import type { HistogramSample, PlainSample } from '../metrics/family.ts';
import { CounterFamily } from './counter-family.ts';
import type { Instant } from './instant.ts';
import {
  advanceInput,
  advanceOutput,
  ageOutputs,
  noteFlow,
  TOMBSTONE_LISTINGS,
  type Gain,
  type KnownTask,
} from './known-task.ts';
import type { LabelSums } from './label-sums.ts';
import { Lifetimes } from './lifetimes.ts';
import type { TaskReading } from './listing-tally.ts';
import { recordOf } from './record-of.ts';

/** The counter families that accumulate between listings. */
export const LEDGER_COUNTERS = [
  'inputBytes',
  'httpOutputBytes',
  'tasksStarted',
  'tasksEnded',
  'taskStalls',
  'byteCounterResets',
] as const;

export type LedgerCounter = (typeof LEDGER_COUNTERS)[number];

/** Told what each task gained, where the detail per task is wanted. */
export interface TaskObserver {
  input(taskId: string, bytes: number): void;
  output(taskId: string, format: string, bytes: number): void;
}

/**
 * Turns the byte counts of tasks, which come and go, into counters that never go backwards and count no byte
 * twice: per task, and per output within it, the last value is kept.
 *
 * The first listing is the baseline and adds nothing. A task first seen later adds its whole value, for it
 * began after the last good listing. One that left keeps what it gave; should it come back within ten good
 * listings, it goes on from its last value.
 */
export class Ledger {
  readonly counters: Readonly<Record<LedgerCounter, CounterFamily>>;
  readonly #lifetimes = new Lifetimes();
  readonly #tasks = new Map<string, KnownTask>();
  readonly #stallAfterMs: number;
  readonly #observer: TaskObserver | undefined;
  /** When the baseline was taken, in seconds since the Unix epoch. */
  #created: number | undefined;

  constructor(options: { maxLabelSets: number; stallAfterMs: number; observer?: TaskObserver | undefined }) {
    this.counters = recordOf(LEDGER_COUNTERS, () => new CounterFamily(options.maxLabelSets));
    this.#stallAfterMs = options.stallAfterMs;
    this.#observer = options.observer;
  }

  /** What is known of a task that the last good listing held, or that left lately. */
  task(id: string): KnownTask | undefined {
    return this.#tasks.get(id);
  }

  /** Takes the tasks of a good listing; adds those that are stalled to `stalled`, by `vs_id`. */
  commit(readings: ReadonlyMap<string, TaskReading>, at: Instant, stalled: LabelSums): void {
    const isBaseline = this.#created === undefined;
    this.#created ??= at.wallMs / 1000;
    for (const counter of Object.values(this.counters)) counter.begin(at);
    this.counters.byteCounterResets.add(['input'], 0);
    this.counters.byteCounterResets.add(['http_output'], 0);
    for (const [id, reading] of readings) {
      const task = this.#take(id, reading, at, isBaseline);
      stalled.add([reading.vsId], task.isStalled ? 1 : 0);
    }
    this.#endMissing(readings);
  }

  samples(counter: LedgerCounter, serviceCode: string): readonly PlainSample[] {
    return this.counters[counter].samples(serviceCode);
  }

  lifetimes(serviceCode: string): HistogramSample {
    return this.#lifetimes.sample(serviceCode, this.#created ?? 0);
  }

  #take(id: string, reading: TaskReading, at: Instant, isBaseline: boolean): KnownTask {
    const known = this.#tasks.get(id);
    const task = known ?? newTask(reading, at, isBaseline);
    const hasStarted = !isBaseline && (known === undefined || known.missedListings > 0);
    if (known === undefined) this.#tasks.set(id, task);
    task.vsId = reading.vsId;
    task.missedListings = 0;
    task.lastSeenMs = at.monotonicMs;
    this.counters.tasksStarted.add([reading.vsId], hasStarted ? 1 : 0);
    this.counters.tasksEnded.add([reading.vsId], 0);
    this.#takeInput(id, task, reading, at);
    this.#takeOutputs(id, task, reading, isBaseline);
    return task;
  }

  #takeInput(id: string, task: KnownTask, reading: TaskReading, at: Instant): void {
    const gain = advanceInput(task, reading.input);
    const bytes = this.#counted(gain, 'input');
    this.counters.inputBytes.add([reading.vsId], bytes);
    this.#observer?.input(id, bytes);
    noteFlow(task, reading.input, gain, at.monotonicMs);
    this.#noteStall(task, reading, at);
  }

  /** Stalled: live, its input flowed once, and it has stood still for long. */
  #noteStall(task: KnownTask, reading: TaskReading, at: Instant): void {
    const isLive = (reading.progress ?? 0) === 0;
    const stoodStillMs = at.monotonicMs - task.lastFlowMs;
    const isStalled = isLive && task.hasFlowed && stoodStillMs >= this.#stallAfterMs;
    this.counters.taskStalls.add([reading.vsId], isStalled && !task.isStalled ? 1 : 0);
    task.isStalled = isStalled;
  }

  #takeOutputs(id: string, task: KnownTask, reading: TaskReading, isBaseline: boolean): void {
    for (const [key, output] of reading.outputs) {
      const gain = advanceOutput(task, key, output);
      const bytes = isBaseline ? 0 : this.#counted(gain, 'http_output');
      this.counters.httpOutputBytes.add([reading.vsId, output.format], bytes);
      this.#observer?.output(id, output.format, bytes);
    }
    ageOutputs(task, reading.outputs);
  }

  #counted(gain: Gain, direction: 'input' | 'http_output'): number {
    if (gain.isReset) this.counters.byteCounterResets.add([direction], 1);
    return gain.bytes;
  }

  /** Tasks that this listing does not hold: those of the last one ended, those gone for long are forgotten. */
  #endMissing(readings: ReadonlyMap<string, TaskReading>): void {
    for (const [id, task] of this.#tasks) {
      if (readings.has(id)) continue;
      task.missedListings += 1;
      if (task.missedListings === 1) this.#end(task);
      else if (task.missedListings > TOMBSTONE_LISTINGS) this.#tasks.delete(id);
    }
  }

  #end(task: KnownTask): void {
    task.isStalled = false;
    this.counters.tasksEnded.add([task.vsId], 1);
    this.#lifetimes.observe((task.lastSeenMs - task.firstSeenMs) / 1000);
  }
}

function newTask(reading: TaskReading, at: Instant, isFromBaseline: boolean): KnownTask {
  return {
    vsId: reading.vsId,
    input: undefined,
    outputs: new Map(),
    missedListings: 0,
    firstSeenWallMs: at.wallMs,
    firstSeenMs: at.monotonicMs,
    lastSeenMs: at.monotonicMs,
    lastFlowMs: at.monotonicMs,
    hasFlowed: false,
    isStalled: false,
    isFromBaseline,
  };
}
