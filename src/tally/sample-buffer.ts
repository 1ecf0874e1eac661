import type { LabelSet } from '../metrics/catalogue/sample-columns.ts';

/** Collects the samples of one family of one service code in columns. */
export class SampleBuffer {
  readonly labelSets: LabelSet[] = [];
  readonly values: number[] = [];
  /** The totals of counters, if one differs from its value because no scrape has seen its label set yet. */
  totals: number[] | undefined;

  add(labels: LabelSet, total: number, value: number = total): void {
    if (total !== value) this.totals ??= [...this.values];
    this.labelSets.push(labels);
    this.values.push(value);
    this.totals?.push(total);
  }
}
