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

interface Sum extends LabelSum {
  value: number;
}

/** A tree by label values, one level a label: finding a sum makes no key. */
interface Branch {
  readonly branches: Map<string, Branch>;
  sum: Sum | undefined;
}

/** Sums by label set, over one listing. */
export class LabelSums {
  readonly #root: Branch = newBranch();
  readonly #sums = new Map<string, Sum>();

  /** Adds to a label set; adding 0 makes it appear. */
  add(labels: readonly string[], amount: number): void {
    let branch = this.#root;
    for (const label of labels) {
      branch = branch.branches.get(label) ?? grow(branch, label);
    }
    branch.sum ??= this.#newSum(labels);
    branch.sum.value += amount;
  }

  get(key: string): LabelSum | undefined {
    return this.#sums.get(key);
  }

  [Symbol.iterator](): Iterator<LabelSum> {
    return this.#sums.values();
  }

  #newSum(labels: readonly string[]): Sum {
    const sum = { key: labelKey(labels), labels, value: 0 };
    this.#sums.set(sum.key, sum);
    return sum;
  }
}

function grow(branch: Branch, label: string): Branch {
  const next = newBranch();
  branch.branches.set(label, next);
  return next;
}

function newBranch(): Branch {
  return { branches: new Map(), sum: undefined };
}
