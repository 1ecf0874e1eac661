import type { LabelSum } from '../listing/families.ts';
import { encodeLabelKey, sanitizeLabelValue } from '../listing/label-values.ts';
import { recordOf } from '../runtime/record-of.ts';
import { LEDGER_COUNTERS, LEDGER_GAUGES, type LedgerCounter, type LedgerGauge } from './family-keys.ts';

/** Texts of at most this length are cached with their label value; longer ones are sanitized each time. */
const MAX_CACHED_CHARACTERS = 128;

/** A tree with more nodes is discarded instead of being reused for the next listing. */
const MAX_KEPT_NODES = 4096;

/** State that the nodes of a tree share. */
interface LabelTree {
  /** The label sets to which something was added, in the order of their first addition. */
  active: LabelNode[];
  nodeCount: number;
}

/**
 * A label set, its sum, and the label sets that begin with it. The tree has one level per label, so that finding a sum
 * builds no key.
 */
export class LabelNode implements LabelSum {
  readonly labels: readonly string[];
  /** The last label value. */
  readonly label: string;
  value = 0;
  readonly #tree: LabelTree;
  /** By label value and by the texts that were sanitized to it. Most nodes are leaves and have none. */
  #children: Map<string | undefined, LabelNode> | undefined;
  #key: string | undefined;
  #isActive = false;

  constructor(labels: readonly string[], tree: LabelTree) {
    this.labels = labels;
    this.label = labels.at(-1) ?? '';
    this.#tree = tree;
    tree.nodeCount += 1;
  }

  get key(): string {
    this.#key ??= encodeLabelKey(this.labels);
    return this.#key;
  }

  /** The node of the next label; its value is sanitized. */
  at(text: string | undefined): LabelNode {
    return this.#children?.get(text) ?? this.#createChild(text);
  }

  /** Adds to the sum of exactly these labels; adding 0 makes it appear. */
  add(amount: number): void {
    if (!this.#isActive) {
      this.#isActive = true;
      this.#tree.active.push(this);
    }
    this.value += amount;
  }

  /** Resets the sum. */
  clear(): void {
    this.value = 0;
    this.#isActive = false;
  }

  #createChild(text: string | undefined): LabelNode {
    const value = sanitizeLabelValue(text);
    this.#children ??= new Map();
    const child = this.#children.get(value) ?? new LabelNode(this.labels.concat(value), this.#tree);
    this.#children.set(value, child);
    if (text === undefined || text.length <= MAX_CACHED_CHARACTERS) this.#children.set(text, child);
    return child;
  }
}

/**
 * Sums by label set: `sums.at('a server').at('flv').add(1)`. The tree is reused for the next listing, which has most
 * label sets in common with this one.
 */
export class LabelSums {
  readonly #tree: LabelTree = { active: [], nodeCount: 0 };
  #root = new LabelNode([], this.#tree);

  /** The node of the first label; its value is sanitized. */
  at(text: string | undefined): LabelNode {
    return this.#root.at(text);
  }

  /** Adds to the sum of a family without labels. */
  add(amount: number): void {
    this.#root.add(amount);
  }

  /** The label sets to which something was added, if only 0. */
  [Symbol.iterator](): Iterator<LabelSum> {
    return this.#tree.active.values();
  }

  /** Resets all sums. Nodes found before are invalid from then on; their labels and keys stay valid. */
  clear(): void {
    const tree = this.#tree;
    for (const node of tree.active) node.clear();
    tree.active = [];
    if (tree.nodeCount <= MAX_KEPT_NODES) return;
    tree.nodeCount = 0;
    this.#root = new LabelNode([], tree);
  }
}

/** What accounts add to the sums of one listing, by family. */
export class Accumulator {
  readonly gauges: Readonly<Record<LedgerGauge, LabelSums>> = recordOf(LEDGER_GAUGES, () => new LabelSums());
  /** Increases of the counters. */
  readonly increases: Readonly<Record<LedgerCounter, LabelSums>> = recordOf(
    LEDGER_COUNTERS,
    () => new LabelSums(),
  );

  clear(): void {
    for (const sums of Object.values(this.gauges)) sums.clear();
    for (const sums of Object.values(this.increases)) sums.clear();
  }
}

/** The pool keeps at most this many free accumulators; more exist only while more listings are read at a time. */
const MAX_FREE_ACCUMULATORS = 4;

/**
 * Accumulators for reuse by all service codes, which have most label values in common. Only an accumulator of a
 * committed listing is released: a reader of a failed listing may still write to its own.
 */
export class AccumulatorPool {
  readonly #free: Accumulator[] = [];

  acquire(): Accumulator {
    return this.#free.pop() ?? new Accumulator();
  }

  release(accumulator: Accumulator): void {
    if (this.#free.length >= MAX_FREE_ACCUMULATORS) return;
    accumulator.clear();
    this.#free.push(accumulator);
  }
}
