import type { LabelSet } from './label-set.ts';

/** Types of families, as OpenMetrics 1.0 names them. In text 0.0.4, `info` is a gauge of value 1. */
export type FamilyType = 'gauge' | 'counter' | 'histogram' | 'info';

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

/** A family: its name tells the type, as OpenMetrics demands of counters and infos. */
export type Definition = Pick<FamilySpec, 'name' | 'help' | 'buckets'> & Partial<Pick<FamilySpec, 'labels'>>;

/** Families by key, with their types and all of their labels. */
export function define<const Definitions extends Readonly<Record<string, Definition>>>(
  firstLabels: readonly string[],
  definitions: Definitions,
): { readonly [Key in keyof Definitions]: Omit<Definitions[Key], 'labels'> & FamilySpec };
export function define(firstLabels: readonly string[], definitions: Readonly<Record<string, Definition>>) {
  return Object.fromEntries(
    Object.entries(definitions).map(([key, { labels = [], ...family }]) => [
      key,
      { ...family, type: toType(family), labels: [...firstLabels, ...labels] },
    ]),
  );
}

function toType({ name, buckets }: Definition): FamilyType {
  if (name.endsWith('_total')) return 'counter';
  if (name.endsWith('_info')) return 'info';
  return buckets === undefined ? 'gauge' : 'histogram';
}

/** The numbers of a gauge, a counter or an info: a column of rows. Immutable once published. */
export interface Column {
  readonly labelSets: readonly LabelSet[];
  /** One for each label set; NaN is no sample. */
  readonly numbers: readonly number[];
}

export const NO_NUMBERS: Column = { labelSets: [], numbers: [] };

const NO_LABELS: Column['labelSets'] = [[]];

/** A number without labels; no sample if it is unknown. */
export function columnOf(number: number = Number.NaN): Column {
  return { labelSets: NO_LABELS, numbers: [number] };
}

export function columnByLabel(entries: readonly (readonly [label: string, number: number])[]): Column {
  return { labelSets: entries.map(([label]) => [label]), numbers: entries.map(([, number]) => number) };
}

export interface HistogramSample {
  readonly labels: LabelSet;
  /** Cumulative counts: one for each bound of the spec, then one for `+Inf`. */
  readonly buckets: readonly number[];
  readonly sum: number;
}

export type Samples = Column | readonly HistogramSample[];

/** Labels that the configuration adds to every series of a service code. A change creates a new object. */
export type StaticLabels = Readonly<Record<string, string>>;

export const NO_STATIC_LABELS: StaticLabels = Object.freeze({});

/** A metric family with its samples. Immutable once published. */
export interface Family {
  readonly spec: FamilySpec;
  readonly samples: Samples;
  /** The service code of all samples: the first label of the family, which their label sets lack. */
  readonly serviceCode?: string;
  /** Added to each sample after the family's own labels. */
  readonly staticLabels?: StaticLabels;
}

/** The families of a closed set with their samples, in the order of the set. */
export function toFamilies<Key extends string>(
  specs: Readonly<Record<Key, FamilySpec>>,
  samples: Readonly<Record<Key, Samples>>,
): Family[] {
  const families: Family[] = [];
  for (const key in specs) families.push({ spec: specs[key], samples: samples[key] });
  return families;
}

/** Counts the series of a family that Prometheus stores. */
export function countSeries({ samples }: Family): number {
  let count = 0;
  if ('labelSets' in samples) for (const number of samples.numbers) count += Number.isNaN(number) ? 0 : 1;
  // A histogram has a series for each bucket, `_sum` and `_count`.
  else for (const { buckets } of samples) count += buckets.length + 2;
  return count;
}
