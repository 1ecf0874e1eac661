import { CATALOGUE } from '../metrics/catalogue.ts';
import type { HistogramSample } from '../metrics/family.ts';

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

  /** `created` in seconds since the Unix epoch. */
  sample(serviceCode: string, created: number): HistogramSample {
    let cumulative = 0;
    const buckets = this.#counts.map((count) => (cumulative += count));
    return { labels: [serviceCode], buckets, sum: this.#sum, created };
  }
}
