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

/** Nodes that a tree has at most when it is kept for the next listing. */
const MAX_KEPT_NODES = 4096;

/** What the nodes of a tree have in common. */
interface Tree {
  /** The label sets to which something was added, in the order in which that began. */
  counted: LabelNode[];
  /** How many nodes there are. */
  nodes: number;
}

/**
 * A label set and its sum; and the label sets that begin with it: a tree, one level a label, in which no key is made to
 * find a sum.
 */
class LabelNode implements LabelSum {
  readonly labels: readonly string[];
  /** The last label value. */
  readonly label: string;
  value = 0;
  readonly #tree: Tree;
  /** By the label values, and by the texts that they were made of. Most nodes are leaves, and have none. */
  #children: Map<string | undefined, LabelNode> | undefined;
  #key: string | undefined;
  #isCounted = false;

  constructor(labels: readonly string[], tree: Tree) {
    this.labels = labels;
    this.label = labels.at(-1) ?? '';
    this.#tree = tree;
    tree.nodes += 1;
  }

  get key(): string {
    this.#key ??= labelKey(this.labels);
    return this.#key;
  }

  /** The node of the next label, whose value is made of a text as it was found. */
  at(text: string | undefined): LabelNode {
    return this.#children?.get(text) ?? this.#grow(text);
  }

  /** Adds to the sum of exactly these labels; adding 0 makes it appear. */
  add(amount: number): void {
    if (!this.#isCounted) {
      this.#isCounted = true;
      this.#tree.counted.push(this);
    }
    this.value += amount;
  }

  /** Begins anew: nothing was added. */
  clear(): void {
    this.value = 0;
    this.#isCounted = false;
  }

  #grow(text: string | undefined): LabelNode {
    const value = labelValue(text);
    this.#children ??= new Map();
    const child = this.#children.get(value) ?? new LabelNode(this.labels.concat(value), this.#tree);
    this.#children.set(value, child);
    if (text === undefined || text.length <= MAX_REMEMBERED) this.#children.set(text, child);
    return child;
  }
}

/**
 * Sums by label set: `sums.at('a server').at('flv').add(1)`. What was made to find them stays for the next listing, in
 * which most label sets come again.
 */
export class LabelSums {
  readonly #tree: Tree = { counted: [], nodes: 0 };
  #root = new LabelNode([], this.#tree);

  /** The node of the first label, whose value is made of a text as it was found. */
  at(text: string | undefined): LabelNode {
    return this.#root.at(text);
  }

  /** The label sets to which something was added, if only 0. */
  [Symbol.iterator](): Iterator<LabelSum> {
    return this.#tree.counted.values();
  }

  /** Begins anew. Of what was found here before, only labels and keys hold. */
  clear(): void {
    const tree = this.#tree;
    for (const node of tree.counted) node.clear();
    tree.counted = [];
    if (tree.nodes <= MAX_KEPT_NODES) return;
    tree.nodes = 0;
    this.#root = new LabelNode([], tree);
  }
}
