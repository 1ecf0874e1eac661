import type { Family, FamilySpec, PlainSample } from '../catalogue/family.ts';

const NO_SAMPLES: readonly PlainSample[] = [];

/**
 * Gauges, counters and infos of the exporter: a number for each label set, without the promises and label
 * hashes of prom-client. A label set exists from its first value on.
 */
export class MetricSet {
  /** Arrays are replaced, not changed: a scrape renders only those that are new. */
  readonly #samples: Map<FamilySpec, readonly PlainSample[]>;

  /** Takes the families in the order of the exposition. */
  constructor(specs: readonly FamilySpec[]) {
    this.#samples = new Map(specs.map((spec) => [spec, NO_SAMPLES]));
  }

  /** Sets the value of a label set, or removes the label set with `undefined`. */
  set(spec: FamilySpec, value: number | undefined, ...labels: readonly string[]): void {
    this.#update(spec, labels, () => value);
  }

  add(spec: FamilySpec, amount: number, ...labels: readonly string[]): void {
    this.#update(spec, labels, (before = 0) => before + amount);
  }

  #update(
    spec: FamilySpec,
    labels: readonly string[],
    change: (before: number | undefined) => number | undefined,
  ): void {
    const samples = this.get(spec);
    const found = samples.findIndex((sample) => sample.labels.every((label, at) => label === labels[at]));
    const index = found < 0 ? samples.length : found;
    const before = samples[index]?.value;
    const value = change(before);
    if (value === before) return;
    const changed = value === undefined ? [] : [{ labels, value }];
    this.#samples.set(spec, samples.toSpliced(index, 1, ...changed));
  }

  /** The samples of a family: a label set keeps its place, and a new one comes last. */
  get(spec: FamilySpec): readonly PlainSample[] {
    return this.#samples.get(spec) ?? NO_SAMPLES;
  }

  get families(): readonly Family[] {
    return Array.from(this.#samples, ([spec, samples]) => ({ spec, samples }));
  }
}
