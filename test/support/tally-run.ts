import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import type { HistogramSample, Sample, Samples } from '../../src/metrics/family.ts';
import {
  COUNTER_FAMILIES,
  LISTING_FAMILIES,
  type CounterFamilyKey,
  type ListingFamily,
} from '../../src/tally/family-keys.ts';
import type { Snapshot } from '../../src/tally/snapshot.ts';
import { advanceSavedCode, restoreTally, saveTally, type SavedCode } from '../../src/state/saved-code.ts';
import { parseStateEntry } from '../../src/tally/state-entry.ts';
import { Tally, type TallyOptions } from '../../src/tally/tally.ts';
import { AccumulatorPool } from '../../src/tally/accumulator-pool.ts';
import type { TaskRecord, UserRecord } from '../oracle/listing/entry-records.ts';
import { RecordAggregator } from '../oracle/tally/record-aggregator.ts';

/** Wall-clock time of the first listing of a run. */
export const START_MS = Date.UTC(2026, 0, 1);
/** Default time between two listings of a run. */
export const STEP_MS = 15_000;

export interface Records {
  readonly users?: readonly UserRecord[];
  readonly tasks?: readonly TaskRecord[];
}

/** Commits listings to a tally, with simulated time and restarts of the process. */
export class TallyRun {
  tally: Tally;
  readonly #options: TallyOptions;
  readonly #accumulatorPool = new AccumulatorPool();
  #listingCount = 0;
  #elapsedMs = 0;
  /** The monotonic time of the current process at the start of the run. */
  #monotonicStartMs = 1000;
  /** The last snapshot with the journal since; `undefined` before the first snapshot. */
  #saved: SavedCode | undefined;
  /** Whether no listing was committed since the last kill. In this case, a clean stop does not change the saved state. */
  #isAwaitingListing = false;

  constructor(options: Partial<TallyOptions> = {}) {
    this.#options = {
      serviceCode: 'TESTING',
      maxLabelSets: 1000,
      stallAfterMs: 60_000,
      perTask: false,
      maxTasks: 1000,
      ...options,
    };
    this.tally = new Tally(this.#options);
  }

  /**
   * Restarts the process `afterMs` after the last listing with the exported state and, optionally, other options. The
   * monotonic clock of the new process starts at another value, and its wall clock is off by `wallErrorMs`.
   */
  restart(options: Partial<TallyOptions> = {}, afterMs: number = 0, wallErrorMs: number = 0): void {
    if (this.#isAwaitingListing) {
      this.kill();
      return;
    }
    const entries = JSON.parse(JSON.stringify([...this.tally.exportState()])) as unknown[];
    this.tally = new Tally({ ...this.#options, ...options });
    const nowMs = this.#elapsedMs + afterMs;
    this.#monotonicStartMs = 77 - nowMs;
    const wallMs = START_MS + nowMs + wallErrorMs;
    const restorer = this.tally.createRestorer({ wallMs, monotonicMs: 77 });
    for (const raw of entries) {
      const entry = parseStateEntry(raw);
      if (entry === undefined || !restorer.apply(entry))
        throw new Error(`Expected a valid state entry, found ${JSON.stringify(raw)}`);
    }
  }

  /** Saves a snapshot and starts its journal. */
  save(): void {
    this.#saved = saveTally(this.tally);
  }

  /** Kills the process and starts another one with the last snapshot and the journal. */
  kill(): void {
    if (this.#saved === undefined) throw new Error('Expected a snapshot before a kill, found none');
    this.#monotonicStartMs = 77 - this.#elapsedMs;
    const now = { wallMs: START_MS + this.#elapsedMs, monotonicMs: 77 };
    this.tally = restoreTally(new Tally(this.#options), this.#saved, now);
    this.#isAwaitingListing = true;
  }

  /** Commits a listing; `afterMs` is the time since the one before. */
  commitListing(records: Records, afterMs: number = STEP_MS): Snapshot {
    const listing = this.fill(records);
    this.#elapsedMs += this.#listingCount === 0 ? 0 : afterMs;
    this.#listingCount += 1;
    const snapshot = this.tally.commit(listing, {
      wallMs: START_MS + this.#elapsedMs,
      monotonicMs: this.#monotonicStartMs + this.#elapsedMs,
    });
    this.#accumulatorPool.release(listing.accumulator);
    this.#isAwaitingListing = false;
    const totals = this.tally.exportPublishedTotals('changed');
    if (this.#saved !== undefined && totals !== undefined) {
      const entry = parseStateEntry(JSON.parse(JSON.stringify(totals)));
      if (entry?.[0] !== 'totals')
        throw new Error(`Expected a totals entry for the journal, found ${JSON.stringify(totals)}`);
      this.#saved = advanceSavedCode(this.#saved, entry);
    }
    return snapshot;
  }

  /** Time since the first listing. */
  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** Lets time pass without a listing. */
  wait(elapsedMs: number): void {
    if (this.#listingCount > 0) this.#elapsedMs += elapsedMs;
  }

  /** Fills a listing and drops it, like a poll that fails at the end of its body. */
  discardListing(records: Records): void {
    this.fill(records);
  }

  private fill({ users = [], tasks = [] }: Records): RecordAggregator {
    const listing = new RecordAggregator(this.#accumulatorPool);
    for (const user of users) listing.addUser(user);
    for (const task of tasks) listing.addTask(task);
    listing.finish();
    return listing;
  }
}

/** Sums the values of all label sets. */
export const sumValues = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((sum, value) => sum + value, 0);

/** Reads the values of a family by its labels after the service code, joined by a space. */
export function readValues(
  snapshot: Snapshot,
  key: ListingFamily | CounterFamilyKey,
): Record<string, number> {
  return Object.fromEntries(
    readSamples(snapshot, key).map((sample) => [
      sample.labels.slice(1).join(' '),
      'value' in sample ? sample.value : Number.NaN,
    ]),
  );
}

/** Reads the histogram of task lifetimes. */
export function readLifetimes(snapshot: Snapshot): HistogramSample {
  const [lifetimes] = readSamples(snapshot, 'taskLifetime');
  if (lifetimes === undefined || !('buckets' in lifetimes))
    throw new Error('Expected a histogram of task lifetimes, found none');
  return lifetimes;
}

export function readSamples(snapshot: Snapshot, key: ListingFamily | CounterFamilyKey): readonly Sample[] {
  const all: Partial<Record<string, Samples>> = { ...snapshot.listing, ...snapshot.counters };
  return [...(all[key] ?? [])];
}

/** Reads all samples of a snapshot with family name and labels, to compare two snapshots. */
export function readAllSamples(snapshot: Snapshot): [string, string, Sample][] {
  return [...LISTING_FAMILIES, ...COUNTER_FAMILIES].flatMap((key) =>
    readSamples(snapshot, key).map((sample): [string, string, Sample] => [
      CATALOGUE[key].name,
      sample.labels.join(' '),
      sample,
    ]),
  );
}
