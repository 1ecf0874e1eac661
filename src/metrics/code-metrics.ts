import type { Clock } from '../clock.ts';
import { INVALID_RECORD_PAIRS } from '../listing/records.ts';
import type { InvalidReason, RecordKind } from '../listing/records.ts';
import { POLL_ERROR_REASONS } from '../upstream/errors.ts';
import type { PollErrorReason } from '../upstream/errors.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Family, FamilySpec } from './family.ts';
import { MetricSet } from './metric-set.ts';

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

/** The families that each service code has, in the order of the catalogue. */
export const CODE_FAMILIES: readonly FamilySpec[] = [
  CATALOGUE.polls,
  CATALOGUE.pollErrors,
  CATALOGUE.pollsSkipped,
  CATALOGUE.pollDuration,
  CATALOGUE.lastPoll,
  CATALOGUE.lastSuccess,
  CATALOGUE.pollInterval,
  CATALOGUE.responseBytes,
  CATALOGUE.invalidRecords,
];

/** Series that are there from the start: all counters, the histogram with `+Inf`, sum and count, and the interval. */
const FIRST_SERIES =
  1 +
  POLL_ERROR_REASONS.length +
  SKIP_REASONS.length +
  INVALID_RECORD_PAIRS.length +
  CATALOGUE.pollDuration.buckets.length +
  3 +
  1;

/**
 * What the exporter says of its polls of one service code: every counter is there from the start, at 0. Labels are literals,
 * no spread: prom-client keeps these objects, and what V8 optimizes of a spread gives each a hidden class of its own, three
 * times the size of the object.
 */
export class CodeMetrics implements PollMetrics {
  readonly #clock: Clock;
  readonly #code: { readonly service_code: string };
  /** In seconds since the Unix epoch. */
  readonly #birth: number;
  readonly #set = new MetricSet();
  readonly #polls = this.#set.counter(CATALOGUE.polls);
  readonly #pollErrors = this.#set.counter(CATALOGUE.pollErrors);
  readonly #pollsSkipped = this.#set.counter(CATALOGUE.pollsSkipped);
  readonly #pollDuration = this.#set.histogram(CATALOGUE.pollDuration);
  readonly #lastPoll = this.#set.gauge(CATALOGUE.lastPoll);
  readonly #lastSuccess = this.#set.gauge(CATALOGUE.lastSuccess);
  readonly #pollInterval = this.#set.gauge(CATALOGUE.pollInterval);
  readonly #responseBytes = this.#set.gauge(CATALOGUE.responseBytes);
  readonly #invalidRecords = this.#set.counter(CATALOGUE.invalidRecords);
  /** The gauges that are there since something happened. */
  readonly #later = new Set<FamilySpec>();
  /** As long as nothing has changed since they were made. */
  #families: Promise<readonly Family[]> | undefined;

  constructor(serviceCode: string, clock: Clock) {
    this.#clock = clock;
    this.#code = { service_code: serviceCode };
    this.#birth = clock.now() / 1000;
    this.#polls.inc(this.#code, 0);
    for (const reason of POLL_ERROR_REASONS) this.#pollErrors.inc({ service_code: serviceCode, reason }, 0);
    for (const reason of SKIP_REASONS) this.#pollsSkipped.inc({ service_code: serviceCode, reason }, 0);
    for (const [record, reason] of INVALID_RECORD_PAIRS) this.invalidRecord(record, reason, 0);
    this.#pollDuration.zero(this.#code);
  }

  /** How many series it has, without making them. */
  get series(): number {
    return FIRST_SERIES + this.#later.size;
  }

  /**
   * One for each of `CODE_FAMILIES`, in their order. Until something happens they are the very same ones, so that what was
   * rendered of them can be found again.
   */
  families(): Promise<readonly Family[]> {
    this.#families ??= this.#set.families(() => this.#birth);
    return this.#families;
  }

  interval(intervalMs: number): void {
    this.#families = undefined;
    this.#pollInterval.set(this.#code, intervalMs / 1000);
  }

  started(): void {
    this.#families = undefined;
    this.#polls.inc(this.#code);
  }

  succeeded(durationSeconds: number): void {
    this.#ended(durationSeconds);
    this.#later.add(CATALOGUE.lastSuccess);
    this.#lastSuccess.set(this.#code, this.#clock.now() / 1000);
  }

  failed(reason: PollErrorReason, durationSeconds: number): void {
    this.#ended(durationSeconds);
    this.#pollErrors.inc({ service_code: this.#code.service_code, reason });
  }

  skipped(reason: SkipReason): void {
    this.#families = undefined;
    this.#pollsSkipped.inc({ service_code: this.#code.service_code, reason });
  }

  responseBytes(bytes: number): void {
    this.#families = undefined;
    this.#later.add(CATALOGUE.responseBytes);
    this.#responseBytes.set(this.#code, bytes);
  }

  invalidRecord(record: RecordKind, reason: InvalidReason, count: number): void {
    this.#families = undefined;
    this.#invalidRecords.inc({ service_code: this.#code.service_code, record, reason }, count);
  }

  #ended(durationSeconds: number): void {
    this.#families = undefined;
    this.#pollDuration.observe(this.#code, durationSeconds);
    this.#later.add(CATALOGUE.lastPoll);
    this.#lastPoll.set(this.#code, this.#clock.now() / 1000);
  }
}
