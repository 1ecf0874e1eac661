import type { Clock } from '../clock.ts';
import { INVALID_RECORD_PAIRS } from '../listing/records.ts';
import type { InvalidReason, RecordKind } from '../listing/records.ts';
import { POLL_ERROR_REASONS } from '../upstream/errors.ts';
import type { PollErrorReason } from '../upstream/errors.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Family, Sample } from './family.ts';
import { Histogram } from './histogram.ts';
import { KnownCounters } from './known-counters.ts';
import type { LabelSet } from './points.ts';

/** Why a poll that was due was left out. */
export type SkipReason = 'overlap' | 'retry_after';

const SKIP_REASONS: readonly SkipReason[] = ['overlap', 'retry_after'];

/** Where the polls of one service code are counted. Once the code is untracked, nothing more is shown. */
export interface PollMetrics {
  started(): void;
  succeeded(durationSeconds: number): void;
  failed(reason: PollErrorReason, durationSeconds: number): void;
  skipped(reason: SkipReason): void;
  /** Size of the body, decompressed, in bytes. */
  responseBytes(bytes: number): void;
  invalidRecord(record: RecordKind, reason: InvalidReason, count: number): void;
}

/** Series that are there from the start: all counters, the histogram with `+Inf`, sum and count, and the interval. */
const FIRST_SERIES =
  1 +
  POLL_ERROR_REASONS.length +
  SKIP_REASONS.length +
  INVALID_RECORD_PAIRS.length +
  CATALOGUE.pollDuration.buckets.length +
  3 +
  1;

const NO_FURTHER_LABELS: readonly LabelSet[] = [[]];
const REASON_LABELS: readonly LabelSet[] = POLL_ERROR_REASONS.map((reason) => [reason]);
const SKIP_LABELS: readonly LabelSet[] = SKIP_REASONS.map((reason) => [reason]);

const PAIR_NAMES = INVALID_RECORD_PAIRS.map(([record, reason]) => `${record} ${reason}`);

/**
 * What the exporter says of its polls of one service code: every counter is there from the start, at 0.
 *
 * Plain numbers, not prom-client's metrics: a process polls thousands of codes, each has some fifty series of these, and
 * most never change. Kept as numbers they take a third of the memory, and lines that did not change are not made again.
 */
export class CodeMetrics implements PollMetrics {
  readonly #clock: Clock;
  readonly #labels: readonly [serviceCode: string];
  /** In seconds since the Unix epoch. */
  readonly #birth: number;
  readonly #polls: KnownCounters;
  readonly #pollErrors: KnownCounters;
  readonly #pollsSkipped: KnownCounters;
  readonly #invalidRecords: KnownCounters;
  readonly #pollDuration = new Histogram(CATALOGUE.pollDuration.buckets);
  #lastPoll: number | undefined;
  #lastSuccess: number | undefined;
  #responseBytes: number | undefined;
  #interval = 0;
  /** As long as nothing has changed since they were made. */
  #families: readonly Family[] | undefined;

  constructor(serviceCode: string, clock: Clock) {
    const birth = clock.now() / 1000;
    this.#clock = clock;
    this.#labels = [serviceCode];
    this.#birth = birth;
    this.#polls = new KnownCounters(serviceCode, NO_FURTHER_LABELS, birth);
    this.#pollErrors = new KnownCounters(serviceCode, REASON_LABELS, birth);
    this.#pollsSkipped = new KnownCounters(serviceCode, SKIP_LABELS, birth);
    this.#invalidRecords = new KnownCounters(serviceCode, INVALID_RECORD_PAIRS, birth);
  }

  /** How many series it has, without making them. */
  get series(): number {
    const later = [this.#lastPoll, this.#lastSuccess, this.#responseBytes];
    return FIRST_SERIES + later.filter((value) => value !== undefined).length;
  }

  /**
   * Its families, of each code the same ones, in the order of the catalogue. Until something happens they are the very
   * same objects, so that what was rendered of them can be found again.
   */
  get families(): readonly Family[] {
    this.#families ??= this.#makeFamilies();
    return this.#families;
  }

  interval(intervalMs: number): void {
    this.#families = undefined;
    this.#interval = intervalMs / 1000;
  }

  started(): void {
    this.#families = undefined;
    this.#polls.add(0, 1);
  }

  succeeded(durationSeconds: number): void {
    this.#ended(durationSeconds);
    this.#lastSuccess = this.#lastPoll;
  }

  failed(reason: PollErrorReason, durationSeconds: number): void {
    this.#ended(durationSeconds);
    this.#pollErrors.add(POLL_ERROR_REASONS.indexOf(reason), 1);
  }

  skipped(reason: SkipReason): void {
    this.#families = undefined;
    this.#pollsSkipped.add(SKIP_REASONS.indexOf(reason), 1);
  }

  responseBytes(bytes: number): void {
    this.#families = undefined;
    this.#responseBytes = bytes;
  }

  invalidRecord(record: RecordKind, reason: InvalidReason, count: number): void {
    this.#families = undefined;
    this.#invalidRecords.add(PAIR_NAMES.indexOf(`${record} ${reason}`), count);
  }

  #ended(durationSeconds: number): void {
    this.#families = undefined;
    this.#pollDuration.observe(durationSeconds);
    this.#lastPoll = this.#clock.now() / 1000;
  }

  #makeFamilies(): readonly Family[] {
    const durations = [this.#pollDuration.sample(this.#labels, this.#birth)];
    return [
      { spec: CATALOGUE.polls, samples: this.#polls.points },
      { spec: CATALOGUE.pollErrors, samples: this.#pollErrors.points },
      { spec: CATALOGUE.pollsSkipped, samples: this.#pollsSkipped.points },
      { spec: CATALOGUE.pollDuration, samples: durations },
      { spec: CATALOGUE.lastPoll, samples: this.#gauge(this.#lastPoll) },
      { spec: CATALOGUE.lastSuccess, samples: this.#gauge(this.#lastSuccess) },
      { spec: CATALOGUE.pollInterval, samples: this.#gauge(this.#interval) },
      { spec: CATALOGUE.responseBytes, samples: this.#gauge(this.#responseBytes) },
      { spec: CATALOGUE.invalidRecords, samples: this.#invalidRecords.points },
    ];
  }

  #gauge(value: number | undefined): readonly Sample[] {
    return value === undefined ? [] : [{ labels: this.#labels, value }];
  }
}
