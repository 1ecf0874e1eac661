/** Kinds of metric family, as OpenMetrics names them (1.0, "Metric Types"). `info` is a gauge of 1 in text 0.0.4. */
export type FamilyType = 'gauge' | 'counter' | 'histogram' | 'info';

/** What a metric family is: one entry of the catalogue. */
export interface FamilySpec {
  /** Full name as an operator types it; counters end in `_total`, infos in `_info`. */
  readonly name: string;
  readonly type: FamilyType;
  /** Base unit, which the name then contains before `_total`. */
  readonly unit?: 'bytes' | 'seconds';
  readonly help: string;
  /** Label names, in the order in which samples give their values. */
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, without `+Inf`. */
  readonly buckets?: readonly number[];
}

/** One point of a gauge, counter or info. */
export interface PlainSample {
  /** Label values, in the order of the family's `labels`. */
  readonly labels: readonly string[];
  readonly value: number;
  /** When a counter was born, in seconds since the Unix epoch (OpenMetrics `_created`). */
  readonly created?: number;
}

/** One point of a histogram. */
export interface HistogramSample {
  readonly labels: readonly string[];
  /** Cumulative counts, one for each bound of the spec, then one for `+Inf`. */
  readonly buckets: readonly number[];
  readonly sum: number;
  readonly created?: number;
}

export type Sample = PlainSample | HistogramSample;

/** Points of a family: a list of them, or columns that are one to whoever goes through it. */
export type Samples = Iterable<Sample> & { readonly length: number };

/**
 * Labels that the configuration gives to every series of a service code, name to value, in the order in which they are
 * exposed. Never changes: other labels are another object.
 */
export type StaticLabels = Readonly<Record<string, string>>;

/** What a service code has to which none are given. */
export const NO_LABELS: StaticLabels = Object.freeze({});

/** A metric family with its points. Published ones never change. */
export interface Family {
  readonly spec: FamilySpec;
  readonly samples: Samples;
  /** What follows the family's own labels on each point. */
  readonly staticLabels?: StaticLabels;
}
