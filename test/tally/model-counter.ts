/** A counter by label set, as it must be across kills of the process. */
export class ModelCounter {
  readonly #totals = new Map<string, number>();
  #gains = new Map<string, number>();
  #saved: ReadonlyMap<string, number> = new Map();
  /** What an earlier process published since the snapshot: the next listing does not add it again. */
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

  /** Adds the gains of a listing; returns nothing of them if they were published before. */
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
