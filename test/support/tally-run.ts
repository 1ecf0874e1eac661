import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import type { Sample, Samples } from '../../src/metrics/family.ts';
import type { TaskRecord, UserRecord } from '../../src/listing/records.ts';
import {
  COUNTER_FAMILIES,
  LISTING_FAMILIES,
  type CounterFamilyKey,
  type ListingFamily,
  type Snapshot,
} from '../../src/tally/snapshot.ts';
import { parseStateUnit } from '../../src/tally/state-unit.ts';
import { Tally, type TallyOptions } from '../../src/tally/tally.ts';
import { Worksheets } from '../../src/tally/worksheet.ts';

/** When a run's first listing is committed. */
export const START_MS = Date.UTC(2026, 0, 1);
/** How far apart a run's listings are. */
export const STEP_MS = 15_000;

export interface Records {
  readonly users?: readonly UserRecord[];
  readonly tasks?: readonly TaskRecord[];
}

/** A tally that is given listings at even intervals. */
export class TallyRun {
  tally: Tally;
  readonly #options: TallyOptions;
  readonly #worksheets = new Worksheets();
  #listings = 0;
  #elapsedMs = 0;
  /** What the monotonic clock of the process shows when the run begins. */
  #monotonicStartMs = 1000;

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
   * Ends the process `afterMs` after the last listing and begins another one, whose monotonic clock begins anew,
   * with what is kept and, if need be, other options. `wallErrorMs`: how wrong the wall clock is then.
   */
  restart(options: Partial<TallyOptions> = {}, afterMs: number = 0, wallErrorMs: number = 0): void {
    const units = JSON.parse(JSON.stringify([...this.tally.state()])) as unknown[];
    this.tally = new Tally({ ...this.#options, ...options });
    const nowMs = this.#elapsedMs + afterMs;
    this.#monotonicStartMs = 77 - nowMs;
    const wallMs = START_MS + nowMs + wallErrorMs;
    const restoring = this.tally.restoring({ wallMs, monotonicMs: 77 });
    for (const raw of units) {
      const unit = parseStateUnit(raw);
      if (unit === undefined || !restoring.take(unit))
        throw new Error(`Expected a unit that fits, found ${JSON.stringify(raw)}`);
    }
  }

  /** Commits a listing; `afterMs` is the time since the one before. */
  list(records: Records, afterMs: number = STEP_MS): Snapshot {
    const listing = this.fill(records);
    this.#elapsedMs += this.#listings === 0 ? 0 : afterMs;
    this.#listings += 1;
    const snapshot = this.tally.commit(listing, {
      wallMs: START_MS + this.#elapsedMs,
      monotonicMs: this.#monotonicStartMs + this.#elapsedMs,
    });
    this.#worksheets.giveBack(listing.sheet);
    return snapshot;
  }

  /** Fills a listing and drops it, as a poll does that fails in the end. */
  fail(records: Records): void {
    this.fill(records);
  }

  private fill({ users = [], tasks = [] }: Records): ReturnType<Tally['begin']> {
    const listing = this.tally.begin(this.#worksheets);
    for (const user of users) listing.user(user);
    for (const task of tasks) listing.task(task);
    return listing;
  }
}

/** The values of a family by its labels behind the service code, joined by a blank. */
export function valuesOf(snapshot: Snapshot, key: ListingFamily | CounterFamilyKey): Record<string, number> {
  return Object.fromEntries(
    samplesOf(snapshot, key).map((sample) => [
      sample.labels.slice(1).join(' '),
      'value' in sample ? sample.value : Number.NaN,
    ]),
  );
}

export function samplesOf(snapshot: Snapshot, key: ListingFamily | CounterFamilyKey): readonly Sample[] {
  const all: Partial<Record<string, Samples>> = { ...snapshot.listing, ...snapshot.counters };
  return [...(all[key] ?? [])];
}

/** All samples of a snapshot with the labels that the catalogue names, to be compared whole. */
export function everySample(snapshot: Snapshot): [string, string, Sample][] {
  return [...LISTING_FAMILIES, ...COUNTER_FAMILIES].flatMap((key) =>
    samplesOf(snapshot, key).map((sample): [string, string, Sample] => [
      CATALOGUE[key].name,
      sample.labels.join(' '),
      sample,
    ]),
  );
}
