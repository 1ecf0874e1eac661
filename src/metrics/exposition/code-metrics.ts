import type { Clock } from '../../runtime/clock.ts';
import { certainOffsetMs } from '../../upstream/response-headers.ts';
import { POLL_ERROR_REASONS, type PollErrorReason } from '../../upstream/errors.ts';
import type { RequestObserver, ResponseHead } from '../../upstream/request-observer.ts';
import { CATALOGUE } from '../catalogue/catalogue.ts';
import type { Family, Sample } from '../catalogue/family.ts';
import type { Histogram } from '../catalogue/histogram.ts';
import { SampleColumns, type LabelSet } from '../catalogue/sample-columns.ts';

/** Why a poll that was due was skipped. */
export type SkipReason = 'overlap' | 'retry_after';

/** Records the polls of one service code. After the code is untracked, calls have no visible effect. */
export interface PollMetrics extends Pick<RequestObserver, 'onResponse' | 'onBodyBytes'> {
  recordStart(): void;
  recordSuccess(durationSeconds: number): void;
  recordFailure(reason: PollErrorReason, durationSeconds: number): void;
  recordSkip(reason: SkipReason): void;
  recordAbort(): void;
  /** Sets the size of the last decompressed body. */
  setResponseBytes(bytes: number): void;
}

const NO_LABELS: readonly LabelSet[] = [[]];
const ERROR_REASON_LABELS: readonly LabelSet[] = POLL_ERROR_REASONS.map((reason) => [reason]);

/**
 * Series that exist from the start: polls, those that were aborted, those that failed by reason, received bytes, and the
 * interval.
 */
const INITIAL_SERIES_COUNT = 4 + ERROR_REASON_LABELS.length;

/**
 * Metrics of the polls of one service code. Counters exist from the start, at 0, except that of skipped polls: it appears
 * with the first one, and is exposed at 0 until a scrape has seen that.
 *
 * Plain numbers instead of prom-client metrics take a third of the memory: a process polls thousands of service codes.
 * Samples are recreated only after a change, so that the render cache hits.
 */
export class CodeMetrics implements PollMetrics {
  readonly #clock: Clock;
  readonly #labels: readonly [serviceCode: string];
  readonly #polls: FixedLabelCounters;
  readonly #pollErrors: FixedLabelCounters;
  readonly #pollsSkipped = new Map<SkipReason, number>();
  readonly #servedSkipReasons = new Set<string>();
  readonly #pollsAborted: FixedLabelCounters;
  readonly #receivedBytes: FixedLabelCounters;
  /** Of all service codes. */
  readonly #pollDurations: Histogram;
  #lastDurationSeconds: number | undefined;
  #lastPollSeconds: number | undefined;
  #lastSuccessSeconds: number | undefined;
  #responseBytes: number | undefined;
  /** Of the last poll that has ended. */
  #response: Omit<ResponseHead, 'header'> | undefined;
  #pendingResponse: Omit<ResponseHead, 'header'> | undefined;
  #intervalSeconds = 0;
  #families: readonly Family[] | undefined;

  constructor(serviceCode: string, clock: Clock, pollDurations: Histogram) {
    this.#clock = clock;
    this.#pollDurations = pollDurations;
    this.#labels = [serviceCode];
    this.#polls = new FixedLabelCounters(serviceCode, NO_LABELS);
    this.#pollErrors = new FixedLabelCounters(serviceCode, ERROR_REASON_LABELS);
    this.#pollsAborted = new FixedLabelCounters(serviceCode, NO_LABELS);
    this.#receivedBytes = new FixedLabelCounters(serviceCode, NO_LABELS);
  }

  /** Counts the series without creating samples. */
  get seriesCount(): number {
    const gauges = [
      this.#lastDurationSeconds,
      this.#lastPollSeconds,
      this.#lastSuccessSeconds,
      this.#responseBytes,
      this.#response?.status,
      this.#response?.clockOffset,
      this.#response?.certificateNotAfterMs,
    ];
    const gaugeCount = gauges.filter((value) => value !== undefined).length;
    return INITIAL_SERIES_COUNT + this.#pollsSkipped.size + gaugeCount;
  }

  /** The families in the order of the catalogue, the same for every service code. */
  get families(): readonly Family[] {
    this.#families ??= this.#createFamilies();
    return this.#families;
  }

  setIntervalMs(intervalMs: number): void {
    this.#intervalSeconds = intervalMs / 1000;
    this.#invalidate();
  }

  recordStart(): void {
    this.#polls.add(0, 1);
    this.#invalidate();
  }

  recordSuccess(durationSeconds: number): void {
    this.#recordEnd(durationSeconds);
    this.#lastSuccessSeconds = this.#lastPollSeconds;
  }

  recordFailure(reason: PollErrorReason, durationSeconds: number): void {
    this.#recordEnd(durationSeconds);
    this.#pollErrors.add(POLL_ERROR_REASONS.indexOf(reason), 1);
  }

  recordSkip(reason: SkipReason): void {
    this.#pollsSkipped.set(reason, (this.#pollsSkipped.get(reason) ?? 0) + 1);
    this.#invalidate();
  }

  /** Records that a scrape has been answered with these series of skipped polls. */
  markSkipsServed({ labelSets }: SampleColumns): void {
    for (const [reason = ''] of labelSets) {
      if (this.#servedSkipReasons.has(reason)) continue;
      this.#servedSkipReasons.add(reason);
      this.#invalidate();
    }
  }

  recordAbort(): void {
    this.#pollsAborted.add(0, 1);
    this.#invalidate();
  }

  setResponseBytes(bytes: number): void {
    this.#responseBytes = bytes;
    this.#invalidate();
  }

  onResponse({ status, clockOffset, certificateNotAfterMs }: ResponseHead): void {
    this.#pendingResponse = { status, clockOffset, certificateNotAfterMs };
  }

  onBodyBytes(bytes: number): void {
    this.#receivedBytes.add(0, bytes);
    this.#invalidate();
  }

  #recordEnd(durationSeconds: number): void {
    this.#pollDurations.observe(durationSeconds);
    this.#lastDurationSeconds = durationSeconds;
    this.#lastPollSeconds = this.#clock.now() / 1000;
    this.#response = this.#pendingResponse;
    this.#pendingResponse = undefined;
    this.#invalidate();
  }

  #invalidate(): void {
    this.#families = undefined;
  }

  #createFamilies(): readonly Family[] {
    const { status, clockOffset, certificateNotAfterMs } = this.#response ?? {};
    return [
      { spec: CATALOGUE.polls, samples: this.#polls.samples },
      { spec: CATALOGUE.pollErrors, samples: this.#pollErrors.samples },
      { spec: CATALOGUE.pollsSkipped, samples: this.#createSkipSamples() },
      { spec: CATALOGUE.pollsAborted, samples: this.#pollsAborted.samples },
      { spec: CATALOGUE.lastPollDuration, samples: this.#toGaugeSamples(this.#lastDurationSeconds) },
      { spec: CATALOGUE.lastPoll, samples: this.#toGaugeSamples(this.#lastPollSeconds) },
      { spec: CATALOGUE.lastSuccess, samples: this.#toGaugeSamples(this.#lastSuccessSeconds) },
      { spec: CATALOGUE.pollInterval, samples: this.#toGaugeSamples(this.#intervalSeconds) },
      { spec: CATALOGUE.responseBytes, samples: this.#toGaugeSamples(this.#responseBytes) },
      { spec: CATALOGUE.receivedBytes, samples: this.#receivedBytes.samples },
      { spec: CATALOGUE.httpStatus, samples: this.#toGaugeSamples(status) },
      {
        spec: CATALOGUE.clockOffset,
        samples: this.#toGaugeSamples(clockOffset && certainOffsetMs(clockOffset) / 1000),
      },
      {
        spec: CATALOGUE.upstreamCertificateNotAfter,
        samples: this.#toGaugeSamples(certificateNotAfterMs && certificateNotAfterMs / 1000),
      },
    ];
  }

  #createSkipSamples(): SampleColumns {
    const reasons = [...this.#pollsSkipped.keys()];
    const totals = [...this.#pollsSkipped.values()];
    return new SampleColumns(
      this.#labels[0],
      reasons.map((reason) => [reason]),
      totals.map((total, index) => (this.#servedSkipReasons.has(reasons[index] ?? '') ? total : 0)),
      totals,
    );
  }

  #toGaugeSamples(value: number | undefined): readonly Sample[] {
    return value === undefined ? [] : [{ labels: this.#labels, value }];
  }
}

/** Counters of one family with a fixed list of label sets. */
class FixedLabelCounters {
  readonly #serviceCode: string;
  readonly #labelSets: readonly LabelSet[];
  readonly #counts: number[];
  #samples: SampleColumns | undefined;

  constructor(serviceCode: string, labelSets: readonly LabelSet[]) {
    this.#serviceCode = serviceCode;
    this.#labelSets = labelSets;
    this.#counts = labelSets.map(() => 0);
  }

  /** Adds to the counter of the label set at `index`. */
  add(index: number, amount: number): void {
    this.#counts[index] = (this.#counts[index] ?? 0) + amount;
    this.#samples = undefined;
  }

  get samples(): SampleColumns {
    this.#samples ??= new SampleColumns(this.#serviceCode, this.#labelSets, [...this.#counts]);
    return this.#samples;
  }
}
