/** A label set of a family, without the service code, and what adds up under it. */
export interface LabelSum {
  readonly key: string;
  readonly labels: readonly string[];
  readonly value: number;
}

/** Identifies a label set. Label values hold no control characters, so that no two sets share a key. */
export function labelKey(labels: readonly string[]): string {
  return labels.join('\u0000');
}

/** Sums by label set, over one listing. */
export class LabelSums {
  readonly #sums = new Map<string, { key: string; labels: readonly string[]; value: number }>();

  get size(): number {
    return this.#sums.size;
  }

  /** Adds to a label set; adding 0 makes it appear. */
  add(labels: readonly string[], amount: number): void {
    const key = labelKey(labels);
    const sum = this.#sums.get(key);
    if (sum === undefined) this.#sums.set(key, { key, labels, value: amount });
    else sum.value += amount;
  }

  get(key: string): LabelSum | undefined {
    return this.#sums.get(key);
  }

  [Symbol.iterator](): Iterator<LabelSum> {
    return this.#sums.values();
  }
}
