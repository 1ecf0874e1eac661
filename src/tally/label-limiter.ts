import { CATALOGUE } from '../metrics/catalogue/catalogue.ts';
import type { FamilySpec } from '../metrics/catalogue/family.ts';
import { FAMILIES, findFamily, type LabelSum } from '../listing/families.ts';
import { recordOf } from '../runtime/record-of.ts';
import type { Instant } from './instant.ts';
import { encodeLabelKey, OTHER } from '../listing/label-values.ts';
import { SlotTable } from './slot-table.ts';

/** Labels whose values terminals choose. Those of the others are the service's. */
const TERMINAL_LABELS: readonly string[] = ['client_version', 'device_type'];

/** By family: indexes into a label set without the service code, in the order in which folding gives them up. */
const FOLD_ORDERS: Readonly<Record<keyof typeof CATALOGUE, readonly number[]>> = recordOf(
  // `Object.keys` is typed as string[].
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.keys(CATALOGUE) as (keyof typeof CATALOGUE)[],
  (key) => {
    const { labels }: FamilySpec = CATALOGUE[key];
    const family = findFamily(key);
    if (family === undefined) return labels.slice(1).map((_, index) => index);
    return FAMILIES[family].foldOrder.map((label) => labels.indexOf(label) - 1);
  },
);

/** A part of the limit that each level of partly folded label sets may use in addition to it. */
const FOLDED_SHARE = 0.1;

/**
 * How the label sets of one family fold beyond the limit: one label at a time becomes `__other__`. A label set is at
 * level n if the first n labels of the order are `__other__`; at the last level all are.
 */
export class LabelFolding {
  /** Number of levels, the unfolded one included. */
  readonly levelCount: number;
  /** Whether terminals choose values of the labels. */
  readonly hasTerminalLabels: boolean;
  readonly #order: readonly number[];
  readonly #maxLabelSets: number;

  constructor(family: keyof typeof CATALOGUE, maxLabelSets: number) {
    this.#order = FOLD_ORDERS[family];
    this.levelCount = this.#order.length + 1;
    this.hasTerminalLabels = CATALOGUE[family].labels.some((label) => TERMINAL_LABELS.includes(label));
    this.#maxLabelSets = maxLabelSets;
  }

  /** How many label sets of one level can be exposed. */
  computeCapacity(level: number): number {
    if (level === this.levelCount - 1) return 1;
    return level === 0 ? this.#maxLabelSets : Math.ceil(this.#maxLabelSets * FOLDED_SHARE);
  }

  /** The level of a label set; above 0 if a listing holds a value that is literally `__other__`. */
  computeLevel(labels: readonly string[]): number {
    const level = this.#order.findIndex((index) => labels[index] !== OTHER);
    return level === -1 ? this.#order.length : level;
  }

  /** A label set of one level, folded to the next one. */
  fold(labels: readonly string[], level: number): readonly string[] {
    return labels.with(this.#order[level] ?? 0, OTHER);
  }
}

/** The sums of a family within its limit. */
export interface LimitedSums {
  /** Sums of label sets that have slots; those of folded ones are in sums with `__other__`. */
  readonly sums: readonly LabelSum[];
  /** Keys of label sets that have lost their slots. */
  readonly released: readonly string[];
  /** Number of label sets that were folded. */
  readonly foldedLabelSets: number;
}

/** A sum that others fold into. */
class FoldedSum implements LabelSum {
  readonly key: string;
  readonly labels: readonly string[];
  value = 0;
  /** Whether the listing itself has this label set, with a value that is literally `__other__`. */
  isListed = false;

  constructor(key: string, labels: readonly string[]) {
    this.key = key;
    this.labels = labels;
  }
}

/**
 * Limits the label sets of one family of one service code (METRICS.md, section 5). Those with the largest values keep slots;
 * the rest fold, one label at a time, so that sums stay exact.
 */
export class LabelLimiter {
  readonly #folding: LabelFolding;
  readonly #canReplacePresent: boolean;
  /** By level; most levels have none, because nothing has ever folded to them. */
  readonly #tables: (SlotTable<LabelSum> | undefined)[] = [];

  /** Counters keep their slots while their label sets are present: `canReplacePresent` is false for them. */
  constructor(folding: LabelFolding, canReplacePresent: boolean) {
    this.#folding = folding;
    this.#canReplacePresent = canReplacePresent;
  }

  /** Gives a slot to a label set of an earlier process. */
  restore(labels: readonly string[], seen: Instant): void {
    this.#getTable(this.#folding.computeLevel(labels)).restore(encodeLabelKey(labels), seen);
  }

  /** Folds the sums of a listing. */
  limit(sums: Iterable<LabelSum>, at: Instant): LimitedSums {
    const unfolded: LabelSum[] = [];
    const folded: Map<string, FoldedSum>[] = [];
    let listedCount = 0;
    for (const sum of sums) {
      listedCount += 1;
      if (this.#folding.computeLevel(sum.labels) === 0) unfolded.push(sum);
      else this.#fold(folded, sum.labels, sum.value).isListed = true;
    }
    const kept: LabelSum[] = [];
    const released: string[] = [];
    for (let level = 0; level < this.#folding.levelCount; level += 1) {
      const own = level === 0 ? unfolded : [...(folded[level]?.values() ?? [])];
      if (own.length === 0) continue;
      const { rest, released: lost } = this.#getTable(level).assign(own, at);
      released.push(...lost);
      const restKeys = new Set(rest.map(({ key }) => key));
      for (const sum of own) {
        if (restKeys.has(sum.key)) this.#fold(folded, this.#folding.fold(sum.labels, level), sum.value);
        else kept.push(sum);
      }
    }
    const keptListed = kept.filter((sum) => !(sum instanceof FoldedSum) || sum.isListed);
    return { sums: kept, released, foldedLabelSets: listedCount - keptListed.length };
  }

  #fold(folded: Map<string, FoldedSum>[], labels: readonly string[], value: number): FoldedSum {
    const level = this.#folding.computeLevel(labels);
    const sums = (folded[level] ??= new Map<string, FoldedSum>());
    const key = encodeLabelKey(labels);
    const sum = sums.get(key) ?? new FoldedSum(key, labels);
    sums.set(key, sum);
    sum.value += value;
    return sum;
  }

  #getTable(level: number): SlotTable<LabelSum> {
    this.#tables[level] ??= new SlotTable({
      capacity: this.#folding.computeCapacity(level),
      getSize: ({ value }) => [value],
      canReplacePresent: this.#canReplacePresent,
      isPaced: this.#folding.hasTerminalLabels,
    });
    return this.#tables[level];
  }
}
