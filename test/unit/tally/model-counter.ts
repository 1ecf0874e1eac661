/** The expected values of a counter by label set, across kills of the process. */
export class ModelCounter {
  readonly #totals = new Map<string, number>();
  #gains = new Map<string, number>();
  #saved: ReadonlyMap<string, number> = new Map();
  /** Growth that a killed process published since the snapshot. The next listing does not add it again. */
  #published = new Map<string, number>();

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

  /** Adds the gains of a listing that were not published before. */
  commit(): void {
    for (const [series, gain] of this.#gains) {
      const added = Math.max(0, gain - (this.#published.get(series) ?? 0));
      this.#totals.set(series, this.get(series) + added);
    }
    this.#gains = new Map();
    this.#published = new Map();
  }

  save(): void {
    this.#saved = new Map(this.#totals);
  }

  kill(): void {
    this.#published = new Map(
      [...this.#totals].map(([series, total]) => [series, total - (this.#saved.get(series) ?? 0)]),
    );
  }
}
