import type { Family, FamilySpec, PlainSample } from '../catalogue/family.ts';

/**
 * A gauge, counter or info of the process: a number for each label set, without the promises and label hashes of
 * prom-client. A label set exists from its first value on.
 */
export class ProcessMetric {
  readonly #spec: FamilySpec;
  readonly #samples = new Map<string, PlainSample>();
  /** Until a value changes. */
  #family: Family | undefined;

  constructor(spec: FamilySpec) {
    this.#spec = spec;
  }

  set(value: number, ...labels: readonly string[]): void {
    this.#samples.set(labels.join('\u0000'), { labels, value });
    this.#family = undefined;
  }

  add(amount: number, ...labels: readonly string[]): void {
    const value = this.#samples.get(labels.join('\u0000'))?.value ?? 0;
    this.set(value + amount, ...labels);
  }

  /** Removes all label sets. */
  clear(): void {
    this.#samples.clear();
    this.#family = undefined;
  }

  get family(): Family {
    this.#family ??= { spec: this.#spec, samples: [...this.#samples.values()] };
    return this.#family;
  }
}

/** Metrics of the process, in order of creation. */
export class ProcessMetricSet {
  readonly #metrics: ProcessMetric[] = [];

  create(spec: FamilySpec): ProcessMetric {
    const metric = new ProcessMetric(spec);
    this.#metrics.push(metric);
    return metric;
  }

  get families(): readonly Family[] {
    return this.#metrics.map(({ family }) => family);
  }
}
