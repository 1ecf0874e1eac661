import type { LabelSet } from '../metrics/sample-columns.ts';

/** Collects the samples of one family of one service code in columns. */
export class SampleBuffer {
  readonly labelSets: LabelSet[] = [];
  readonly values: number[] = [];

  add(labels: LabelSet, value: number): void {
    this.labelSets.push(labels);
    this.values.push(value);
  }
}
