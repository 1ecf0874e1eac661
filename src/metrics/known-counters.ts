import type { PlainSample } from './family.ts';

/** The counters of one family whose label sets are known from the start: all are there, at 0. */
export class KnownCounters {
  readonly #labelSets: readonly (readonly string[])[];
  /** In seconds since the Unix epoch. */
  readonly #created: number;
  readonly #counts: number[];
  /** As they were made last, unless something was counted since. */
  #samples: readonly PlainSample[] | undefined;

  constructor(labelSets: readonly (readonly string[])[], created: number) {
    this.#labelSets = labelSets;
    this.#created = created;
    this.#counts = labelSets.map(() => 0);
  }

  /** Counts for the label set of that index. */
  add(index: number, amount: number): void {
    this.#counts[index] = (this.#counts[index] ?? 0) + amount;
    this.#samples = undefined;
  }

  /** The very same ones until something is counted: what was rendered of them can be found again. */
  get samples(): readonly PlainSample[] {
    this.#samples ??= this.#labelSets.map((labels, index) => ({
      labels,
      value: this.#counts[index] ?? 0,
      created: this.#created,
    }));
    return this.#samples;
  }
}
