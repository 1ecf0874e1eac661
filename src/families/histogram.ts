import type { HistogramSample } from './family.ts';

/** Histogram as the state stores it: counts for each bucket, not cumulative, and the sum. */
export interface PersistedHistogram {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** The histogram of one series. Unlike prom-client's histograms, it can be restored from the state. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** Not cumulative; the last count is for `+Inf`. */
  readonly #counts: number[];
  #sum = 0;

  /** Takes the upper bounds in ascending order, without `+Inf`. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const index = found === -1 ? this.#bounds.length : found;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
  }

  get persisted(): PersistedHistogram {
    return { counts: [...this.#counts], sum: this.#sum };
  }

  /** Restores persisted counts; ignores them if the buckets were different. */
  restore({ counts, sum }: PersistedHistogram): void {
    if (counts.length !== this.#counts.length) return;
    for (const [index, count] of counts.entries()) this.#counts[index] = count;
    this.#sum = sum;
  }

  toSample(): HistogramSample {
    let cumulative = 0;
    const buckets = this.#counts.map((count) => (cumulative += count));
    return { labels: [], buckets, sum: this.#sum };
  }
}
