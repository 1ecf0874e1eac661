import { SURPLUS_ITEMS, type SurplusItem } from '../listing/listing-sink.ts';
import {
  CHECKED_FIELDS,
  FOREIGN_RECORD_KINDS,
  INVALID_RECORD_PAIRS,
  type InvalidReason,
  type RecordKind,
} from '../listing/records.ts';
import type { Clock } from '../runtime/clock.ts';
import { POLL_ERROR_REASONS, type PollErrorReason } from '../upstream/errors.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Family, Sample } from './family.ts';
import { Histogram } from './histogram.ts';
import { SampleColumns, type LabelSet } from './sample-columns.ts';

const SKIP_REASONS = ['overlap', 'retry_after'] as const;

/** Why a poll that was due was skipped. */
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Records the polls of one service code. After the code is untracked, calls have no visible effect. */
export interface PollMetrics {
  recordStart(): void;
  recordSuccess(durationSeconds: number): void;
  recordFailure(reason: PollErrorReason, durationSeconds: number): void;
  recordSkip(reason: SkipReason): void;
  recordAbort(): void;
  /** Sets the size of the last decompressed body. */
  setResponseBytes(bytes: number): void;
  addInvalidRecords(record: RecordKind, reason: InvalidReason, count: number): void;
  addInvalidFields(record: RecordKind, field: string, count: number): void;
  addForeignRecords(record: RecordKind, count: number): void;
  addSurplus(item: SurplusItem, count: number): void;
}

const NO_LABELS: readonly LabelSet[] = [[]];
const ERROR_REASON_LABELS: readonly LabelSet[] = POLL_ERROR_REASONS.map((reason) => [reason]);
const SKIP_REASON_LABELS: readonly LabelSet[] = SKIP_REASONS.map((reason) => [reason]);
const INVALID_RECORD_KEYS = INVALID_RECORD_PAIRS.map(([record, reason]) => `${record} ${reason}`);

/** Series that exist from the start: counters, buckets with `+Inf`, sum and count, and the poll interval. */
const INITIAL_SERIES_COUNT =
  NO_LABELS.length +
  ERROR_REASON_LABELS.length +
  SKIP_REASON_LABELS.length +
  NO_LABELS.length +
  INVALID_RECORD_PAIRS.length +
  CHECKED_FIELDS.length +
  FOREIGN_RECORD_KINDS.length +
  SURPLUS_ITEMS.length +
  CATALOGUE.pollDuration.buckets.length +
  3 +
  1;

const FOREIGN_RECORD_LABELS: readonly LabelSet[] = FOREIGN_RECORD_KINDS.map((record) => [record]);
const SURPLUS_LABELS: readonly LabelSet[] = SURPLUS_ITEMS.map((item) => [item]);
const CHECKED_FIELD_KEYS = CHECKED_FIELDS.map(([record, field]) => `${record} ${field}`);

/**
 * Metrics of the polls of one service code. All counters exist from the start, at 0.
 *
 * Plain numbers instead of prom-client metrics take a third of the memory: a process polls thousands of service codes with
 * about 80 series each. Samples are recreated only after a change, so that the render cache hits.
 */
export class CodeMetrics implements PollMetrics {
  readonly #clock: Clock;
  readonly #labels: readonly [serviceCode: string];
  readonly #polls: FixedLabelCounters;
  readonly #pollErrors: FixedLabelCounters;
  readonly #pollsSkipped: FixedLabelCounters;
  readonly #pollsAborted: FixedLabelCounters;
  readonly #invalidRecords: FixedLabelCounters;
  readonly #invalidFields: FixedLabelCounters;
  readonly #foreignRecords: FixedLabelCounters;
  readonly #surplus: FixedLabelCounters;
  readonly #pollDuration = new Histogram(CATALOGUE.pollDuration.buckets);
  #lastPollSeconds: number | undefined;
  #lastSuccessSeconds: number | undefined;
  #responseBytes: number | undefined;
  #intervalSeconds = 0;
  #families: readonly Family[] | undefined;

  constructor(serviceCode: string, clock: Clock) {
    this.#clock = clock;
    this.#labels = [serviceCode];
    this.#polls = new FixedLabelCounters(serviceCode, NO_LABELS);
    this.#pollErrors = new FixedLabelCounters(serviceCode, ERROR_REASON_LABELS);
    this.#pollsSkipped = new FixedLabelCounters(serviceCode, SKIP_REASON_LABELS);
    this.#pollsAborted = new FixedLabelCounters(serviceCode, NO_LABELS);
    this.#invalidRecords = new FixedLabelCounters(serviceCode, INVALID_RECORD_PAIRS);
    this.#invalidFields = new FixedLabelCounters(serviceCode, CHECKED_FIELDS);
    this.#foreignRecords = new FixedLabelCounters(serviceCode, FOREIGN_RECORD_LABELS);
    this.#surplus = new FixedLabelCounters(serviceCode, SURPLUS_LABELS);
  }

  /** Counts the series without creating samples. */
  get seriesCount(): number {
    const optional = [this.#lastPollSeconds, this.#lastSuccessSeconds, this.#responseBytes];
    return INITIAL_SERIES_COUNT + optional.filter((value) => value !== undefined).length;
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
    this.#pollsSkipped.add(SKIP_REASONS.indexOf(reason), 1);
    this.#invalidate();
  }

  recordAbort(): void {
    this.#pollsAborted.add(0, 1);
    this.#invalidate();
  }

  setResponseBytes(bytes: number): void {
    this.#responseBytes = bytes;
    this.#invalidate();
  }

  addInvalidRecords(record: RecordKind, reason: InvalidReason, count: number): void {
    this.#invalidRecords.add(INVALID_RECORD_KEYS.indexOf(`${record} ${reason}`), count);
    this.#invalidate();
  }

  addInvalidFields(record: RecordKind, field: string, count: number): void {
    this.#invalidFields.add(CHECKED_FIELD_KEYS.indexOf(`${record} ${field}`), count);
    this.#invalidate();
  }

  addForeignRecords(record: RecordKind, count: number): void {
    this.#foreignRecords.add(FOREIGN_RECORD_KINDS.indexOf(record), count);
    this.#invalidate();
  }

  addSurplus(item: SurplusItem, count: number): void {
    this.#surplus.add(SURPLUS_ITEMS.indexOf(item), count);
    this.#invalidate();
  }

  #recordEnd(durationSeconds: number): void {
    this.#pollDuration.observe(durationSeconds);
    this.#lastPollSeconds = this.#clock.now() / 1000;
    this.#invalidate();
  }

  #invalidate(): void {
    this.#families = undefined;
  }

  #createFamilies(): readonly Family[] {
    const durations = [this.#pollDuration.toSample(this.#labels)];
    return [
      { spec: CATALOGUE.polls, samples: this.#polls.samples },
      { spec: CATALOGUE.pollErrors, samples: this.#pollErrors.samples },
      { spec: CATALOGUE.pollsSkipped, samples: this.#pollsSkipped.samples },
      { spec: CATALOGUE.pollsAborted, samples: this.#pollsAborted.samples },
      { spec: CATALOGUE.pollDuration, samples: durations },
      { spec: CATALOGUE.lastPoll, samples: this.#toGaugeSamples(this.#lastPollSeconds) },
      { spec: CATALOGUE.lastSuccess, samples: this.#toGaugeSamples(this.#lastSuccessSeconds) },
      { spec: CATALOGUE.pollInterval, samples: this.#toGaugeSamples(this.#intervalSeconds) },
      { spec: CATALOGUE.responseBytes, samples: this.#toGaugeSamples(this.#responseBytes) },
      { spec: CATALOGUE.invalidRecords, samples: this.#invalidRecords.samples },
      { spec: CATALOGUE.invalidFields, samples: this.#invalidFields.samples },
      { spec: CATALOGUE.foreignRecords, samples: this.#foreignRecords.samples },
      { spec: CATALOGUE.listingSurplus, samples: this.#surplus.samples },
    ];
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
