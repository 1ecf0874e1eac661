import { CATALOGUE } from '../metrics/catalogue.ts';
import type { HistogramSample } from '../metrics/family.ts';

/** What is kept of the histogram from one process to the next: counts by bucket, not cumulative, and the sum. */
export interface KeptLifetimes {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** The histogram of how long tasks lived. */
export class Lifetimes {
  readonly #bounds = CATALOGUE.taskLifetime.buckets;
  /** Not cumulative; the last is beyond every bound. */
  readonly #counts: number[] = [...this.#bounds, Number.POSITIVE_INFINITY].map(() => 0);
  #sum = 0;

  observe(seconds: number): void {
    const index = this.#bounds.findIndex((bound) => seconds <= bound);
    const at = index === -1 ? this.#bounds.length : index;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += seconds;
  }

  get kept(): KeptLifetimes {
    return { counts: [...this.#counts], sum: this.#sum };
  }

  /** Takes what an earlier process kept, unless that had other buckets: then the histogram begins anew. */
  restore({ counts, sum }: KeptLifetimes): void {
    if (counts.length !== this.#counts.length) return;
    this.#counts.splice(0, counts.length, ...counts);
    this.#sum = sum;
  }

  /** `created` in seconds since the Unix epoch. */
  sample(serviceCode: string, created: number): HistogramSample {
    let cumulative = 0;
    const buckets = this.#counts.map((count) => (cumulative += count));
    return { labels: [serviceCode], buckets, sum: this.#sum, created };
  }
}
