import type { PlainSample } from './family.ts';

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
  /** One for each label set. */
  readonly values: readonly number[];

  constructor(serviceCode: string, labelSets: readonly LabelSet[], values: readonly number[]) {
    this.serviceCode = serviceCode;
    this.labelSets = labelSets;
    this.values = values;
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
