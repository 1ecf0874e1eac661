import { CATALOGUE } from '../metrics/catalogue/catalogue.ts';
import type { FamilySpec } from '../metrics/catalogue/family.ts';
import { FAMILIES, findFamily, type LabelSum } from '../listing/families.ts';
import { recordOf } from '../runtime/record-of.ts';
import { LabelSums } from './accumulator.ts';
import { LEDGER_COUNTERS, LISTING_GAUGES, type LedgerCounter, type ListingGauge } from './family-keys.ts';
import type { Instant } from './instant.ts';
import { OTHER, toKeyedLabels } from '../listing/label-values.ts';
import { SlotTable } from './slot-table.ts';

/** Labels whose values terminals choose. Those of the others are the service's. */
const TERMINAL_LABELS: readonly string[] = ['client_version', 'device_type'];

type LimitedFamily = ListingGauge | LedgerCounter;

/** By family: indexes into a label set without the service code, in the order in which folding gives them up. */
const FOLD_ORDERS: Readonly<Record<LimitedFamily, readonly number[]>> = recordOf(
  [...LISTING_GAUGES, ...LEDGER_COUNTERS],
  (key) => {
    const { labels }: FamilySpec = CATALOGUE[key];
    const family = findFamily(key);
    if (family === undefined) return labels.slice(1).map((_, index) => index);
    return FAMILIES[family].foldOrder.map((label) => labels.indexOf(label) - 1);
  },
);

/** Labels of which the exporter knows all values: families without others have no limit. */
const CLOSED_LABELS: readonly string[] = ['at_least', 'direction', 'record', 'reason', 'field', 'item'];

/** A part of the limit that each level of partly folded label sets may use in addition to it. */
const FOLDED_SHARE = 0.1;

const getValue = ({ value }: LabelSum): readonly number[] => [value];

/** The sums of a family within its limit. */
export interface LimitedSums {
  /** Sums of label sets that have slots; those of folded ones are in sums with `__other__`. */
  readonly sums: readonly LabelSum[];
  /** Keys of label sets that have lost their slots. */
  readonly released: readonly string[];
}

/**
 * Limits the label sets of one family of one service code (METRICS.md, section 5). Those with the largest values keep slots;
 * the rest fold, so that sums stay exact: one label at a time becomes `__other__`. A label set is at level n if the first n
 * labels of the order are `__other__`; at the last level all are.
 */
export class LabelLimiter {
  readonly #family: LimitedFamily;
  readonly #maxLabelSets: number;
  readonly #canReplacePresent: boolean;
  /** By level; most levels have none, because nothing has ever folded to them. */
  readonly #tables: (SlotTable<LabelSum> | undefined)[] = [undefined];
  /** Number of label sets of the last listing that were folded. */
  foldedLabelSets = 0;

  /** Counters keep their slots while their label sets are present: `canReplacePresent` is false for them. */
  constructor(family: LimitedFamily, maxLabelSets: number, canReplacePresent: boolean) {
    this.#family = family;
    const { labels }: FamilySpec = CATALOGUE[family];
    const isClosed = labels.slice(1).every((label) => CLOSED_LABELS.includes(label));
    this.#maxLabelSets = isClosed ? Infinity : maxLabelSets;
    this.#canReplacePresent = canReplacePresent;
  }

  /** Gives a slot to a label set of an earlier process. */
  restore(labels: readonly string[], seen: Instant): void {
    this.#getTable(this.#computeLevel(labels)).restore(toKeyedLabels(labels).key, seen);
  }

  /** Folds the sums of a listing. */
  limit(sums: Iterable<LabelSum>, at: Instant): LimitedSums {
    if (this.#maxLabelSets === Infinity) return { sums: [...sums], released: [] };
    const listed = [...sums];
    const unfolded: LabelSum[] = [];
    const folded: LabelSums[] = [];
    for (const sum of listed) {
      if (this.#computeLevel(sum.labels) === 0) unfolded.push(sum);
      else this.#fold(folded, sum.labels, sum.value);
    }
    const kept: LabelSum[] = [];
    const released: string[] = [];
    for (let level = 0; level <= this.#order.length; level += 1) {
      const own = level === 0 ? unfolded : [...(folded[level] ?? [])];
      if (own.length === 0) continue;
      const table = this.#getTable(level);
      released.push(...table.assign(own, at));
      for (const sum of own) {
        if (table.has(sum.key)) kept.push(sum);
        else this.#fold(folded, sum.labels.with(this.#order[level] ?? 0, OTHER), sum.value);
      }
    }
    this.foldedLabelSets = folded.length === 0 ? 0 : countMissing(listed, kept);
    return { sums: kept, released };
  }

  get #order(): readonly number[] {
    return FOLD_ORDERS[this.#family];
  }

  /** The level of a label set; above 0 if a listing holds a value that is literally `__other__`. */
  #computeLevel(labels: readonly string[]): number {
    const level = this.#order.findIndex((index) => labels[index] !== OTHER);
    return level === -1 ? this.#order.length : level;
  }

  #fold(folded: LabelSums[], labels: readonly string[], value: number): void {
    const sums = (folded[this.#computeLevel(labels)] ??= new LabelSums());
    sums.at(...labels).add(value);
  }

  #getTable(level: number): SlotTable<LabelSum> {
    this.#tables[level] ??= new SlotTable({
      capacity: this.#computeCapacity(level),
      getSize: getValue,
      canReplacePresent: this.#canReplacePresent,
      isPaced: CATALOGUE[this.#family].labels.some((label) => TERMINAL_LABELS.includes(label)),
    });
    return this.#tables[level];
  }

  /** How many label sets of one level can be exposed. */
  #computeCapacity(level: number): number {
    if (level === this.#order.length) return 1;
    return level === 0 ? this.#maxLabelSets : Math.ceil(this.#maxLabelSets * FOLDED_SHARE);
  }
}

function countMissing(listed: readonly LabelSum[], kept: readonly LabelSum[]): number {
  const keys = new Set(kept.map(({ key }) => key));
  return listed.filter(({ key }) => !keys.has(key)).length;
}
