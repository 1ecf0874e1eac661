import type { Clock } from '../../runtime/clock.ts';
import { POLL_ERROR_REASONS, type PollErrorReason } from '../../upstream/errors.ts';
import type { RequestObserver, ResponseHead } from '../../upstream/request-observer.ts';
import { certainOffsetMs } from '../../upstream/response-headers.ts';
import { CATALOGUE } from '../catalogue/catalogue.ts';
import type { Family, FamilySpec } from '../catalogue/family.ts';
import type { Histogram } from '../catalogue/histogram.ts';
import { MetricSet } from './metric-set.ts';

const SKIP_REASONS = ['overlap', 'retry_after'] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];

const FAMILIES: readonly FamilySpec[] = [
  CATALOGUE.polls,
  CATALOGUE.pollErrors,
  CATALOGUE.pollsSkipped,
  CATALOGUE.lastPollDuration,
  CATALOGUE.lastPoll,
  CATALOGUE.lastSuccess,
  CATALOGUE.pollInterval,
  CATALOGUE.responseBytes,
  CATALOGUE.httpStatus,
  CATALOGUE.clockOffset,
  CATALOGUE.upstreamCertificateNotAfter,
];

/**
 * Metrics of the polls of one service code. Counters exist from the start, at 0. After the code is
 * untracked, calls have no visible effect.
 */
export class CodeMetrics implements RequestObserver {
  readonly #clock: Clock;
  readonly #metrics = new MetricSet(FAMILIES);
  /** Of all service codes. */
  readonly #pollDurations: Histogram;
  #pendingResponse: ResponseHead | undefined;

  constructor(clock: Clock, pollDurations: Histogram) {
    this.#clock = clock;
    this.#pollDurations = pollDurations;
    this.#metrics.set(CATALOGUE.polls, 0);
    for (const reason of POLL_ERROR_REASONS) this.#metrics.set(CATALOGUE.pollErrors, 0, reason);
    for (const reason of SKIP_REASONS) this.#metrics.set(CATALOGUE.pollsSkipped, 0, reason);
  }

  get families(): readonly Family[] {
    return this.#metrics.families;
  }

  setIntervalMs(intervalMs: number): void {
    this.#metrics.set(CATALOGUE.pollInterval, intervalMs / 1000);
  }

  recordSuccess(durationSeconds: number): void {
    this.#recordEnd(durationSeconds);
    this.#metrics.set(CATALOGUE.lastSuccess, this.#clock.now() / 1000);
  }

  recordFailure(reason: PollErrorReason, durationSeconds: number): void {
    this.#recordEnd(durationSeconds);
    this.#metrics.add(CATALOGUE.pollErrors, 1, reason);
  }

  recordSkip(reason: SkipReason): void {
    this.#metrics.add(CATALOGUE.pollsSkipped, 1, reason);
  }

  setResponseBytes(bytes: number): void {
    this.#metrics.set(CATALOGUE.responseBytes, bytes);
  }

  onResponse(response: ResponseHead): void {
    this.#pendingResponse = response;
  }

  #recordEnd(durationSeconds: number): void {
    const { status, clockOffset, certificateNotAfterMs } = this.#pendingResponse ?? {};
    this.#pendingResponse = undefined;
    this.#metrics.add(CATALOGUE.polls, 1);
    this.#pollDurations.observe(durationSeconds);
    this.#metrics.set(CATALOGUE.lastPollDuration, durationSeconds);
    this.#metrics.set(CATALOGUE.lastPoll, this.#clock.now() / 1000);
    this.#metrics.set(CATALOGUE.httpStatus, status);
    this.#metrics.set(CATALOGUE.clockOffset, clockOffset && certainOffsetMs(clockOffset) / 1000);
    this.#metrics.set(
      CATALOGUE.upstreamCertificateNotAfter,
      certificateNotAfterMs && certificateNotAfterMs / 1000,
    );
  }
}
