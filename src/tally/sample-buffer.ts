import type { LabelSet } from '../metrics/sample-columns.ts';

/** Collects the samples of one family of one service code in columns. */
export class SampleBuffer {
  readonly labelSets: LabelSet[] = [];
  readonly values: number[] = [];
  /** Creation times of counters, in seconds since the Unix epoch; empty for gauges. */
  readonly created: number[] = [];

  add(labels: LabelSet, value: number, created?: number): void {
    this.labelSets.push(labels);
    this.values.push(value);
    if (created !== undefined) this.created.push(created);
  }
}
