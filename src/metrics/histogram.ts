import type { HistogramSample } from './family.ts';

/** What is kept of a histogram from one process to the next: counts by bucket, not cumulative, and the sum. */
export interface KeptHistogram {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** The histogram of one series. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** Not cumulative; the last is beyond every bound. */
  readonly #counts: number[];
  #sum = 0;

  /** `bounds`: the upper ones, ascending, without `+Inf`. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = [...bounds, Number.POSITIVE_INFINITY].map(() => 0);
  }

  observe(value: number): void {
    const index = this.#bounds.findIndex((bound) => value <= bound);
    const at = index === -1 ? this.#bounds.length : index;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  get kept(): KeptHistogram {
    return { counts: [...this.#counts], sum: this.#sum };
  }

  /** Takes what an earlier process kept, unless that had other buckets: then the histogram begins anew. */
  restore({ counts, sum }: KeptHistogram): void {
    if (counts.length !== this.#counts.length) return;
    this.#counts.splice(0, counts.length, ...counts);
    this.#sum = sum;
  }

  /** `created` in seconds since the Unix epoch. */
  sample(labels: readonly string[], created: number): HistogramSample {
    let cumulative = 0;
    const buckets = this.#counts.map((count) => (cumulative += count));
    return { labels, buckets, sum: this.#sum, created };
  }
}
