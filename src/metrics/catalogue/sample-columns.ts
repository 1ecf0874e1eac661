import type { Family, PlainSample } from './family.ts';

/**
 * Label values of a sample without `service_code`, which is the first label of its family. The last ones can be missing:
 * then the sample does not have these labels.
 */
export type LabelSet = readonly string[];

/**
 * Samples of a gauge or counter of one service code, in columns. A process holds hundreds of thousands of samples; the
 * columns share label sets between service codes and snapshots and need no object for each sample. Immutable once published.
 */
export class SampleColumns implements Iterable<PlainSample> {
  readonly serviceCode: string;
  readonly labelSets: readonly LabelSet[];
  /** What scrapes get, one for each label set. */
  readonly values: readonly number[];
  /** The same without regard to scrapes: a new counter is 0 in `values` until a scrape has seen it. */
  readonly totals: readonly number[];

  constructor(
    serviceCode: string,
    labelSets: readonly LabelSet[],
    values: readonly number[],
    totals: readonly number[] = values,
  ) {
    this.serviceCode = serviceCode;
    this.labelSets = labelSets;
    this.values = values;
    this.totals = totals;
  }

  get length(): number {
    return this.labelSets.length;
  }

  *[Symbol.iterator](): Generator<PlainSample, void, undefined> {
    for (const [index, labelSet] of this.labelSets.entries()) {
      const labels = [this.serviceCode, ...labelSet];
      yield { labels, value: this.values[index] ?? 0 };
    }
  }
}

/** A family with the totals of its counters, whether or not a scrape has seen their label sets. */
export function withTotals(family: Family): Family {
  const { samples } = family;
  if (!(samples instanceof SampleColumns)) return family;
  return { ...family, samples: new SampleColumns(samples.serviceCode, samples.labelSets, samples.totals) };
}
