/** The expected values of a counter by label set. */
export class ModelCounter {
  readonly #totals = new Map<string, number>();
  #gains = new Map<string, number>();

  get(series: string): number {
    return this.#totals.get(series) ?? 0;
  }

  get series(): Iterable<string> {
    return this.#totals.keys();
  }

  get sum(): number {
    return [...this.#totals.values()].reduce((sum, total) => sum + total, 0);
  }

  add(series: string, amount: number): void {
    this.#gains.set(series, (this.#gains.get(series) ?? 0) + amount);
  }

  /** Adds the gains of a listing. */
  commit(): void {
    for (const [series, gain] of this.#gains) {
      this.#totals.set(series, this.get(series) + gain);
    }
    this.#gains = new Map();
  }
}
