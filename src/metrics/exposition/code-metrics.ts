import { recordOf } from '../../listing/rows.ts';
import type { Clock } from '../../runtime/clock.ts';
import { POLL_ERROR_REASONS, type PollErrorReason } from '../../upstream/errors.ts';
import type { RequestObserver, ResponseHead } from '../../upstream/request-observer.ts';
import { certainOffsetMs } from '../../upstream/response-headers.ts';
import { POLL_FAMILIES } from '../catalogue.ts';
import { columnOf, toFamilies, type Family } from '../../listing/family.ts';
import type { Histogram } from '../../listing/histogram.ts';

const SKIP_REASONS = ['overlap', 'retry_after'] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];

/** Shared: a scrape has them of every service code. */
const ERROR_LABELS = POLL_ERROR_REASONS.map((reason) => [reason]);
const SKIP_LABELS = SKIP_REASONS.map((reason) => [reason]);

/** The last poll that ended; without the headers of its response, which would stay in memory. */
interface LastPoll {
  readonly durationSeconds?: number;
  readonly endedMs?: number;
  readonly status?: number | undefined;
  readonly clockOffset?: ResponseHead['clockOffset'];
  readonly certificateNotAfterMs?: number | undefined;
}

/**
 * Metrics of the polls of one service code. Counters exist from the start, at 0. After the code is
 * untracked, calls have no visible effect.
 */
export class CodeMetrics implements RequestObserver {
  readonly #clock: Clock;
  /** Of all service codes. */
  readonly #pollDurations: Histogram;
  readonly #errors = recordOf(POLL_ERROR_REASONS, () => 0);
  readonly #skipped = recordOf(SKIP_REASONS, () => 0);
  #polls = 0;
  #intervalMs = Number.NaN;
  #lastPoll: LastPoll = {};
  #lastSuccessMs: number | undefined;
  #responseBytes: number | undefined;
  #pendingResponse: ResponseHead | undefined;

  constructor(clock: Clock, pollDurations: Histogram) {
    this.#clock = clock;
    this.#pollDurations = pollDurations;
  }

  get families(): Family[] {
    const { durationSeconds, endedMs, status, clockOffset, certificateNotAfterMs } = this.#lastPoll;
    return toFamilies(POLL_FAMILIES, {
      polls: columnOf(this.#polls),
      pollErrors: { labelSets: ERROR_LABELS, numbers: Object.values(this.#errors) },
      pollsSkipped: { labelSets: SKIP_LABELS, numbers: Object.values(this.#skipped) },
      lastPollDuration: columnOf(durationSeconds),
      lastPoll: columnOf(endedMs && endedMs / 1000),
      lastSuccess: columnOf(this.#lastSuccessMs && this.#lastSuccessMs / 1000),
      pollInterval: columnOf(this.#intervalMs / 1000),
      responseBytes: columnOf(this.#responseBytes),
      httpStatus: columnOf(status),
      clockOffset: columnOf(clockOffset && certainOffsetMs(clockOffset) / 1000),
      upstreamCertificateNotAfter: columnOf(certificateNotAfterMs && certificateNotAfterMs / 1000),
    });
  }

  setIntervalMs(intervalMs: number): void {
    this.#intervalMs = intervalMs;
  }

  recordSuccess(durationSeconds: number): void {
    this.#recordEnd(durationSeconds);
    this.#lastSuccessMs = this.#clock.now();
  }

  recordFailure(reason: PollErrorReason, durationSeconds: number): void {
    this.#recordEnd(durationSeconds);
    this.#errors[reason] += 1;
  }

  recordSkip(reason: SkipReason): void {
    this.#skipped[reason] += 1;
  }

  setResponseBytes(bytes: number): void {
    this.#responseBytes = bytes;
  }

  onResponse(response: ResponseHead): void {
    this.#pendingResponse = response;
  }

  #recordEnd(durationSeconds: number): void {
    const { status, clockOffset, certificateNotAfterMs } = this.#pendingResponse ?? {};
    this.#pendingResponse = undefined;
    this.#polls += 1;
    this.#pollDurations.observe(durationSeconds);
    const endedMs = this.#clock.now();
    this.#lastPoll = { durationSeconds, endedMs, status, clockOffset, certificateNotAfterMs };
  }
}
