import type { Instant } from './instant.ts';
import type { LabelFolding } from './label-folding.ts';
import type { LabelSum } from '../listing/families.ts';
import { encodeLabelKey } from '../listing/label-values.ts';
import { SlotTable } from './slot-table.ts';

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
