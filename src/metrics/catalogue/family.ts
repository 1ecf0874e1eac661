import type { LabelSet } from '../../listing/label-values.ts';

/** Types of families, as OpenMetrics 1.0 names them. In text 0.0.4, `info` is a gauge of value 1. */
export type FamilyType = 'gauge' | 'counter' | 'histogram' | 'info';

/** Definition of a metric family: one entry of the catalogue. */
export interface FamilySpec {
  /** Full name, with the base unit, and with the suffix `_total` of counters and `_info` of infos. */
  readonly name: string;
  readonly type: FamilyType;
  readonly help: string;
  /** Label names, in the order of the label values of samples. */
  readonly labels: readonly string[];
  /** Upper bounds of histogram buckets, without `+Inf`. */
  readonly buckets?: readonly number[];
}

/** Sample of a gauge, counter or info. */
export interface PlainSample {
  /** Label values, in the order of the family's `labels`. */
  readonly labels: readonly string[];
  readonly value: number;
}

/** Sample of a histogram. */
export interface HistogramSample {
  readonly labels: readonly string[];
  /** Cumulative counts: one for each bound of the spec, then one for `+Inf`. */
  readonly buckets: readonly number[];
  readonly sum: number;
}

export type Sample = PlainSample | HistogramSample;

/** The samples of a family of one service code: a column of rows. Immutable once published. */
export interface ColumnSamples {
  readonly serviceCode: string;
  /** Without `service_code`, which is the first label of the family. */
  readonly labelSets: readonly LabelSet[];
  /** One for each label set; NaN is no sample. */
  readonly numbers: readonly number[];
}

export type Samples = readonly Sample[] | ColumnSamples;

/**
 * Labels that the configuration adds to every series of a service code, name to value, in order of
 * exposition. Immutable: a change creates a new object.
 */
export type StaticLabels = Readonly<Record<string, string>>;

export const NO_STATIC_LABELS: StaticLabels = Object.freeze({});

/** A metric family with its samples. Immutable once published. */
export interface Family {
  readonly spec: FamilySpec;
  readonly samples: Samples;
  /** Added to each sample after the family's own labels. */
  readonly staticLabels?: StaticLabels;
}

/** Families that a scrape asks for: all, those of the process, or those of one service code. */
export type FamilySelection = 'everything' | 'exporter' | { readonly serviceCode: string };
