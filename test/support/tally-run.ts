import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import type { HistogramSample } from '../../src/families/family.ts';
import {
  familiesOf,
  LABEL_GROUP_NAMES,
  type LabelGroupName,
  type TableFamilyKey,
} from '../../src/listing/label-groups.ts';
import type { Rows } from '../../src/listing/rows.ts';
import type { Expectation } from '../../src/tally/expectations.ts';
import type { Snapshot } from '../../src/tally/snapshot.ts';
import type { StateRecord } from '../../src/tally/tally-state.ts';
import { Tally, type TallyOptions } from '../../src/tally/tally.ts';
import type { TaskRecord, UserRecord } from './listing-records.ts';
import { RecordListing } from './record-listing.ts';

/** Wall-clock time of the first listing of a run. */
export const START_MS = Date.UTC(2026, 0, 1);
/** Default time between two listings of a run. */
export const STEP_MS = 15_000;

interface PlainSample {
  readonly labels: readonly string[];
  readonly value: number;
}

export type Sample = PlainSample | HistogramSample;

export interface Records {
  readonly users?: readonly UserRecord[];
  readonly tasks?: readonly TaskRecord[];
}

/** Commits listings to a tally, with simulated time and restarts of the process. */
export class TallyRun {
  tally: Tally;
  readonly #options: TallyOptions;
  #listingCount = 0;
  #elapsedMs = 0;
  /** The monotonic time of the current process at the start of the run. */
  #monotonicStartMs = 1000;
  readonly #records = new Map<string, string>();
  #listAll: () => Iterable<StateRecord> = () => [];
  #expectation: Expectation | undefined;

  constructor(options: Partial<TallyOptions> = {}) {
    this.#options = {
      serviceCode: 'TESTING',
      maxLabelSets: 1000,
      maxStreamRate: 12.5e6,
      stallAfterMs: 60_000,
      pollIntervalMs: STEP_MS,
      perTask: false,
      maxTasks: 1000,
      ...options,
    };
    this.tally = new Tally(this.#options);
  }

  /** Expects tasks by name, also after restarts. */
  expect(...names: readonly string[]): void {
    this.#expectation = { tasks: names.length, names };
    this.tally.expectation = this.#expectation;
  }

  /** The records that are written: those of each listing that have changed. */
  get records(): ReadonlyMap<string, string> {
    return this.#records;
  }

  /** All records after the last commit. */
  get allRecords(): ReadonlyMap<string, string> {
    return new Map(this.#listAll());
  }

  /**
   * Restarts the process `afterMs` after the last listing with the written records and, optionally, other
   * options. The monotonic clock of the new process starts at another value, and its wall clock is off by
   * `wallErrorMs`.
   */
  restart(options: Partial<TallyOptions> = {}, afterMs: number = 0, wallErrorMs: number = 0): void {
    this.tally = new Tally({ ...this.#options, ...options });
    this.tally.expectation = this.#expectation;
    if (this.#records.size === 0) return;
    const nowMs = this.#elapsedMs + afterMs;
    this.#monotonicStartMs = 77 - nowMs;
    const records = [...this.#records].toSorted(([a], [b]) => (a < b ? -1 : 1));
    this.tally.restore(records, { wallMs: START_MS + nowMs + wallErrorMs, monotonicMs: 77 });
  }

  /** Commits a listing; `afterMs` is the time since the one before. */
  commitListing(records: Records, afterMs: number = STEP_MS): Snapshot {
    const listing = new RecordListing();
    for (const user of records.users ?? []) listing.addUser(user);
    for (const task of records.tasks ?? []) listing.addTask(task);
    this.#elapsedMs += this.#listingCount === 0 ? 0 : afterMs;
    this.#listingCount += 1;
    const at = {
      wallMs: START_MS + this.#elapsedMs,
      monotonicMs: this.#monotonicStartMs + this.#elapsedMs,
    };
    const { snapshot, records: written } = this.tally.commit(listing.listing, at);
    for (const [key, value] of written.listChanges())
      if (value === undefined) this.#records.delete(key);
      else this.#records.set(key, value);
    this.#listAll = written.listAll;
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

  /** Lets time pass that the monotonic clock does not show. */
  suspend(elapsedMs: number): void {
    this.#elapsedMs += elapsedMs;
    this.#monotonicStartMs -= elapsedMs;
  }
}

/** Sums the values of all label sets. */
export const sumValues = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((sum, value) => sum + value, 0);

/** Reads the values of a family by its labels, joined by a space. */
export function readValues(snapshot: Snapshot, key: TableFamilyKey): Record<string, number> {
  return Object.fromEntries(readSamples(snapshot, key).map(({ labels, value }) => [labels.join(' '), value]));
}

/** Reads the histogram of task lifetimes. */
export function readLifetimes({ lifetimes }: Snapshot): HistogramSample {
  const [sample] = lifetimes;
  if (sample === undefined) throw new Error('Expected a histogram of task lifetimes, found none');
  return sample;
}

export function readSamples({ rows }: Snapshot, key: TableFamilyKey): readonly PlainSample[] {
  const all: Readonly<Partial<Record<LabelGroupName, Rows>>> = rows;
  const found = Object.values(all).find(({ columns }) => Object.hasOwn(columns, key));
  return (found?.labelSets ?? [])
    .map((labels, row) => ({ labels, value: found?.columns[key]?.[row] ?? Number.NaN }))
    .filter(({ value }) => !Number.isNaN(value));
}

/** Reads all samples of a snapshot with family name and labels, in their order, to compare two snapshots. */
export function readAllSamples(snapshot: Snapshot): [string, string, Sample][] {
  return [
    ...LABEL_GROUP_NAMES.flatMap((group) => familiesOf(group)).flatMap((key) =>
      readSamples(snapshot, key)
        .map((sample): [string, string, Sample] => [CATALOGUE[key].name, sample.labels.join(' '), sample])
        .toSorted(([, a], [, b]) => (a < b ? -1 : 1)),
    ),
    [CATALOGUE.taskLifetime.name, '', readLifetimes(snapshot)],
  ];
}
