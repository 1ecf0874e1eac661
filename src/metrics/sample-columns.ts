import type { PlainSample } from './family.ts';

/** The label values of a point behind that of `service_code`, which is the first of its family's labels. */
export type LabelSet = readonly string[];

/**
 * The points of a gauge or counter of one service code, in columns: a process holds a hundred thousand of them, most have
 * their label sets in common with those of other codes and of other moments, and an object for each would take more than
 * all else of a code. Published ones never change.
 */
export class Points implements Iterable<PlainSample> {
  readonly serviceCode: string;
  readonly labelSets: readonly LabelSet[];
  /** Of each label set. */
  readonly values: readonly number[];
  /** When each counter was born, in seconds since the Unix epoch (OpenMetrics `_created`); gauges are not. */
  readonly created: readonly number[] | undefined;

  constructor(
    serviceCode: string,
    labelSets: readonly LabelSet[],
    values: readonly number[],
    created?: readonly number[],
  ) {
    this.serviceCode = serviceCode;
    this.labelSets = labelSets;
    this.values = values;
    this.created = created;
  }

  get length(): number {
    return this.labelSets.length;
  }

  /** Each point as a sample of its own, with all its labels. */
  *[Symbol.iterator](): Generator<PlainSample, void, undefined> {
    for (const [index, labelSet] of this.labelSets.entries()) {
      const labels = [this.serviceCode, ...labelSet];
      const value = this.values[index] ?? 0;
      const created = this.created?.[index];
      yield created === undefined ? { labels, value } : { labels, value, created };
    }
  }
}
