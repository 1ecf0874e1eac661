import { CATALOGUE } from '../metrics/catalogue.ts';
import type { HistogramSample } from '../metrics/family.ts';
import { Histogram, type KeptHistogram } from '../metrics/histogram.ts';
import type { Points } from '../metrics/points.ts';
import { CounterFamily } from './counter-family.ts';
import type { Instant } from './instant.ts';
import {
  advanceInput,
  advanceOutputs,
  isForgotten,
  noteFlow,
  type Gain,
  type KnownTask,
} from './known-task.ts';
import type { LabelSums } from './label-sums.ts';
import type { ListingTally, TaskReading } from './listing-tally.ts';
import { recordOf } from '../record-of.ts';

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

/** What a listing adds to the counters, by label set. */
type Gains = Readonly<Record<LedgerCounter, LabelSums>>;

/** How far a ledger has come. */
export interface LedgerProgress {
  /** How many good listings it has taken, the baseline among them. */
  readonly listings: number;
  /** When the baseline was taken, in seconds since the Unix epoch. */
  readonly created: number;
  /** When the last good listing was taken. */
  readonly last: Instant;
}

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
  /** How long a live task's input stands still before the task is stalled. */
  stallAfterMs: number;
  readonly #lifetimes = new Histogram(CATALOGUE.taskLifetime.buckets);
  readonly #tasks = new Map<string, KnownTask>();
  readonly #observer: TaskObserver | undefined;
  /** Number of the listing being committed; the baseline is 1. */
  #listing = 0;
  /** When the baseline was taken, in seconds since the Unix epoch. */
  #created: number | undefined;
  /** When the last good listing before it was taken. */
  #before: Instant | undefined;

  constructor(options: {
    serviceCode: string;
    maxLabelSets: number;
    stallAfterMs: number;
    observer?: TaskObserver | undefined;
  }) {
    this.counters = {
      ...recordOf(LEDGER_COUNTERS, () => new CounterFamily(options.serviceCode, options.maxLabelSets)),
      // Its two label sets are the exporter's own: there is nothing to limit.
      byteCounterResets: new CounterFamily(options.serviceCode, Number.POSITIVE_INFINITY),
    };
    this.stallAfterMs = options.stallAfterMs;
    this.#observer = options.observer;
  }

  /** What is known of a task that the last good listing held, or that left lately. */
  task(id: string): KnownTask | undefined {
    return this.#tasks.get(id);
  }

  /** Takes the tasks of a good listing; adds those that are stalled to its gauges, by `vs_id`. */
  commit({ tasks, sheet }: ListingTally, at: Instant): void {
    const { gains, gauges } = sheet;
    this.#listing += 1;
    this.#created ??= at.wallMs / 1000;
    gains.byteCounterResets.at('input').add(0);
    gains.byteCounterResets.at('http_output').add(0);
    for (const [id, reading] of tasks) {
      const task = this.#take(id, reading, at, gains);
      gauges.tasksStalled.at(reading.vsId).add(task.isStalled ? 1 : 0);
    }
    // Each task of the listing is known by now: where no more are known, none is missing.
    if (this.#tasks.size > tasks.size) this.#endMissing(gains);
    this.#before = at;
    for (const counter of LEDGER_COUNTERS) this.#count(counter, gains[counter], at);
  }

  /** Where it stands between two listings; `undefined` before the baseline. */
  get progress(): LedgerProgress | undefined {
    if (this.#created === undefined || this.#before === undefined) return undefined;
    return { listings: this.#listing, created: this.#created, last: this.#before };
  }

  /** All tasks of which something is known. */
  get tasks(): Iterable<readonly [id: string, task: KnownTask]> {
    return this.#tasks;
  }

  get keptLifetimes(): KeptHistogram {
    return this.#lifetimes.kept;
  }

  /** Goes on from where another ledger stood: the next listing is no baseline. */
  restoreProgress({ listings, created, last }: LedgerProgress): void {
    this.#listing = listings;
    this.#created = created;
    this.#before = last;
  }

  restoreTask(id: string, task: KnownTask): void {
    this.#tasks.set(id, task);
  }

  restoreLifetimes(kept: KeptHistogram): void {
    this.#lifetimes.restore(kept);
  }

  points(counter: LedgerCounter): Points {
    return this.counters[counter].points();
  }

  lifetimes(serviceCode: string): HistogramSample {
    return this.#lifetimes.sample([serviceCode], this.#created ?? 0);
  }

  #count(counter: LedgerCounter, gains: LabelSums, at: Instant): void {
    this.counters[counter].begin(at);
    for (const sum of gains) this.counters[counter].add(sum);
  }

  get #isBaseline(): boolean {
    return this.#listing === 1;
  }

  #take(id: string, reading: TaskReading, at: Instant, gains: Gains): KnownTask {
    const known = this.#tasks.get(id);
    const task = known ?? newTask(reading, at, this.#isBaseline);
    const hasStarted = !this.#isBaseline && known?.lastListing !== this.#listing - 1;
    if (known === undefined) this.#tasks.set(id, task);
    task.vsId = reading.vsId;
    task.lastListing = this.#listing;
    gains.tasksStarted.at(reading.vsId).add(hasStarted ? 1 : 0);
    gains.tasksEnded.at(reading.vsId).add(0);
    this.#takeInput(id, task, reading, at, gains);
    this.#takeOutputs(id, task, reading, gains);
    return task;
  }

  #takeInput(id: string, task: KnownTask, reading: TaskReading, at: Instant, gains: Gains): void {
    const gain = advanceInput(task, reading.input);
    const bytes = counted(gain, 'input', gains);
    gains.inputBytes.at(reading.vsId).add(bytes);
    this.#observer?.input(id, bytes);
    noteFlow(task, reading.input, gain, at);
    this.#noteStall(task, reading, at, gains);
  }

  /** Stalled: live, its input flowed once, and it has stood still for long. */
  #noteStall(task: KnownTask, reading: TaskReading, at: Instant, gains: Gains): void {
    const isLive = (reading.progress ?? 0) === 0;
    const stoodStillMs = at.monotonicMs - task.lastFlow.monotonicMs;
    const isStalled = isLive && task.hasFlowed && stoodStillMs >= this.stallAfterMs;
    gains.taskStalls.at(reading.vsId).add(isStalled && !task.isStalled ? 1 : 0);
    task.isStalled = isStalled;
  }

  #takeOutputs(id: string, task: KnownTask, reading: TaskReading, gains: Gains): void {
    for (const { format, gain } of advanceOutputs(task, reading.outputs, this.#listing)) {
      const bytes = this.#isBaseline ? 0 : counted(gain, 'http_output', gains);
      gains.httpOutputBytes.at(reading.vsId).at(format).add(bytes);
      this.#observer?.output(id, format, bytes);
    }
  }

  /** Tasks that this listing does not hold: those of the last one ended, those gone for long are forgotten. */
  #endMissing(gains: Gains): void {
    for (const [id, task] of this.#tasks) {
      if (task.lastListing === this.#listing) continue;
      if (task.lastListing === this.#listing - 1) this.#end(task, gains);
      // Forgotten as of the next listing, for which it would otherwise still be kept.
      else if (isForgotten(task, this.#listing + 1)) this.#tasks.delete(id);
    }
  }

  #end(task: KnownTask, gains: Gains): void {
    const lastSeen = this.#before ?? task.firstSeen;
    task.isStalled = false;
    gains.tasksEnded.at(task.vsId).add(1);
    this.#lifetimes.observe((lastSeen.monotonicMs - task.firstSeen.monotonicMs) / 1000);
  }
}

/** The bytes of a gain; one that is a reset is counted as such, too. */
function counted({ bytes, isReset }: Gain, direction: 'input' | 'http_output', gains: Gains): number {
  if (isReset) gains.byteCounterResets.at(direction).add(1);
  return bytes;
}

function newTask(reading: TaskReading, at: Instant, isFromBaseline: boolean): KnownTask {
  return {
    vsId: reading.vsId,
    inputBytes: 0,
    inputSource: undefined,
    outputs: [],
    lastListing: 0,
    firstSeen: at,
    lastFlow: at,
    hasFlowed: false,
    isStalled: false,
    isFromBaseline,
  };
}
