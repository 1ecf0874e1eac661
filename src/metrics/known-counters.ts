import { Points, type LabelSet } from './points.ts';

/** The counters of one family whose label sets are known from the start: all are there, at 0. */
export class KnownCounters {
  readonly #serviceCode: string;
  readonly #labelSets: readonly LabelSet[];
  /** Of each, in seconds since the Unix epoch. */
  readonly #created: readonly number[];
  readonly #counts: number[];
  /** As they were made last, unless something was counted since. */
  #points: Points | undefined;

  /** Those of all codes can share the label sets. */
  constructor(serviceCode: string, labelSets: readonly LabelSet[], created: number) {
    this.#serviceCode = serviceCode;
    this.#labelSets = labelSets;
    this.#created = labelSets.map(() => created);
    this.#counts = labelSets.map(() => 0);
  }

  /** Counts for the label set of that index. */
  add(index: number, amount: number): void {
    this.#counts[index] = (this.#counts[index] ?? 0) + amount;
    this.#points = undefined;
  }

  /** The very same ones until something is counted: what was rendered of them can be found again. */
  get points(): Points {
    this.#points ??= new Points(this.#serviceCode, this.#labelSets, [...this.#counts], this.#created);
    return this.#points;
  }
}
