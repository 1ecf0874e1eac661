import { labelValue } from './label-values.ts';

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

/** Texts of so many characters are remembered with their label value; longer ones are made harmless each time. */
const MAX_REMEMBERED = 128;

/** The label sets that begin with some values: a tree, one level a label, in which no key is made to find a sum. */
class LabelNode {
  readonly labels: readonly string[];
  /** The last of them. */
  readonly value: string;
  /** By the label values, and by the texts that they were made of. Most nodes are leaves, and have none. */
  #children: Map<string | undefined, LabelNode> | undefined;
  readonly #sums: Map<string, LabelSum>;
  #sum: { -readonly [K in keyof LabelSum]: LabelSum[K] } | undefined;

  constructor(labels: readonly string[], sums: Map<string, LabelSum>) {
    this.labels = labels;
    this.value = labels.at(-1) ?? '';
    this.#sums = sums;
  }

  /** The node of the next label, whose value is made of a text as it was found. */
  at(text: string | undefined): LabelNode {
    return this.#children?.get(text) ?? this.#grow(text);
  }

  /** Adds to the sum of exactly these labels; adding 0 makes it appear. */
  add(amount: number): void {
    this.#sum ??= this.#newSum();
    this.#sum.value += amount;
  }

  #grow(text: string | undefined): LabelNode {
    const value = labelValue(text);
    this.#children ??= new Map();
    const child = this.#children.get(value) ?? new LabelNode(this.labels.concat(value), this.#sums);
    this.#children.set(value, child);
    if (text === undefined || text.length <= MAX_REMEMBERED) this.#children.set(text, child);
    return child;
  }

  #newSum(): LabelSum {
    const sum = { key: labelKey(this.labels), labels: this.labels, value: 0 };
    this.#sums.set(sum.key, sum);
    return sum;
  }
}

/** Sums by label set, over one listing: `sums.at('a server').at('flv').add(1)`. */
export class LabelSums {
  readonly #sums = new Map<string, LabelSum>();
  readonly #root = new LabelNode([], this.#sums);

  /** The node of the first label, whose value is made of a text as it was found. */
  at(text: string | undefined): LabelNode {
    return this.#root.at(text);
  }

  get(key: string): LabelSum | undefined {
    return this.#sums.get(key);
  }

  [Symbol.iterator](): Iterator<LabelSum> {
    return this.#sums.values();
  }
}
