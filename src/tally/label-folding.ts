import { CATALOGUE } from '../metrics/catalogue/catalogue.ts';
import type { FamilySpec } from '../metrics/catalogue/family.ts';
import { FAMILIES, findFamily } from '../listing/families.ts';
import { OTHER } from '../listing/label-values.ts';
import { recordOf } from '../runtime/record-of.ts';

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
