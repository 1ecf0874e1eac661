import type { Family, FamilySpec, PlainSample } from '../catalogue/family.ts';

const NO_SAMPLES: readonly PlainSample[] = [];

/**
 * Gauges, counters and infos of the exporter: a number for each label set, without the promises and label hashes of
 * prom-client. A label set exists from its first value on.
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
    const before = this.#samples.get(spec) ?? NO_SAMPLES;
    const index = before.findIndex((sample) => sample.labels.every((label, at) => label === labels[at]));
    if (before[index]?.value === value) return;
    const others = index < 0 ? before : before.toSpliced(index, 1);
    const end = index < 0 ? before.length : index;
    this.#samples.set(spec, value === undefined ? others : others.toSpliced(end, 0, { labels, value }));
  }

  add(spec: FamilySpec, amount: number, ...labels: readonly string[]): void {
    const samples = this.#samples.get(spec) ?? NO_SAMPLES;
    const found = samples.find((sample) => sample.labels.every((label, at) => label === labels[at]));
    this.set(spec, (found?.value ?? 0) + amount, ...labels);
  }

  /** Removes all label sets of a family. */
  clear(spec: FamilySpec): void {
    this.#samples.set(spec, NO_SAMPLES);
  }

  get families(): readonly Family[] {
    return Array.from(this.#samples, ([spec, samples]) => ({ spec, samples }));
  }

  /** Number of label sets of all families. */
  get size(): number {
    let size = 0;
    for (const { length } of this.#samples.values()) size += length;
    return size;
  }
}
