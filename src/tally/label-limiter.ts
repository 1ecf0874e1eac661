import type { LabelSet, SampleColumns } from '../metrics/sample-columns.ts';
import type { Instant } from './instant.ts';
import type { LabelFolding } from './label-folding.ts';
import { encodeLabelKey, type LabelSum } from './label-sums.ts';
import { SampleCache } from './sample-cache.ts';

/** An absent label set keeps its slot for this long while no present one needs it. */
const SLOT_TTL_MS = 60 * 60 * 1000;
/** A candidate replaces a present incumbent only if its value is larger by this factor: slots do not flap. */
const REPLACEMENT_FACTOR = 2;

interface Slot {
  readonly labels: LabelSet;
  value: number;
  lastSeen: Instant;
}

/** The samples of a family and the number of label sets that were folded. */
export interface LimitedSamples {
  readonly samples: SampleColumns;
  readonly foldedLabelSets: number;
}

/** The sum of label sets that are equal once folded. */
class FoldedSum implements LabelSum {
  readonly key: string;
  readonly labels: LabelSet;
  value = 0;
  /** Label sets in it that were equal to it without folding: 1 if the listing holds `__other__` literally. */
  unfoldedCount = 0;

  constructor(key: string, labels: LabelSet) {
    this.key = key;
    this.labels = labels;
  }
}

/** The folded sums of one level. */
class FoldedSums {
  readonly #sums = new Map<string, FoldedSum>();

  get(labels: LabelSet): FoldedSum {
    const key = encodeLabelKey(labels);
    const found = this.#sums.get(key) ?? new FoldedSum(key, labels);
    this.#sums.set(key, found);
    return found;
  }

  [Symbol.iterator](): Iterator<FoldedSum> {
    return this.#sums.values();
  }
}

/**
 * Limits the label sets of one gauge family of one service code. The largest keep slots of their own; the rest fold,
 * one label at a time, so that sums stay exact.
 */
export class LabelLimiter {
  readonly #folding: LabelFolding;
  readonly #slots: readonly SlotTable[];
  readonly #sampleCache: SampleCache;

  constructor(serviceCode: string, folding: LabelFolding) {
    this.#sampleCache = new SampleCache(serviceCode);
    this.#folding = folding;
    this.#slots = Array.from(
      { length: folding.levelCount },
      (_, level) => new SlotTable(folding.computeCapacity(level)),
    );
  }

  /** Folds the sums of a listing. */
  limit(sums: Iterable<LabelSum>, at: Instant): LimitedSamples {
    const columns: SampleBuffer = { labelSets: [], values: [] };
    const folded = this.#slots.map(() => new FoldedSums());
    const unfolded: LabelSum[] = [];
    for (const sum of sums) {
      const level = this.#folding.computeLevel(sum.labels);
      if (level === 0) unfolded.push(sum);
      else addTo(folded[level]?.get(sum.labels), sum.value, 1);
    }
    let foldedLabelSets = 0;
    for (const [level, slots] of this.#slots.entries()) {
      const ownSums = level === 0 ? unfolded : [...(folded[level] ?? [])];
      for (const sum of slots.assign(ownSums, at, columns)) {
        foldedLabelSets += sum instanceof FoldedSum ? sum.unfoldedCount : 1;
        addTo(folded[level + 1]?.get(this.#folding.fold(sum.labels, level)), sum.value, 0);
      }
    }
    return { samples: this.#sampleCache.update(columns.labelSets, columns.values), foldedLabelSets };
  }
}

function addTo(sum: FoldedSum | undefined, value: number, unfoldedCount: number): void {
  if (sum === undefined) return;
  sum.value += value;
  sum.unfoldedCount += unfoldedCount;
}

interface SampleBuffer {
  readonly labelSets: LabelSet[];
  readonly values: number[];
}

/**
 * The label sets of one level that are exposed. When slots are short, an absent label set releases its slot to a present
 * one at once. Such releases are limited to the number of slots per hour: otherwise a terminal that invents values would
 * create as many new series with every listing.
 */
class SlotTable {
  readonly #capacity: number;
  readonly #slots = new Map<string, Slot>();
  /** Number of slots of absent label sets that may be released now. */
  #releaseBudget: number;
  #budgetedAtMs: number | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#releaseBudget = capacity;
  }

  /** Adds the sums that have slots to `columns`; returns the others. */
  assign(sums: readonly LabelSum[], at: Instant, columns: SampleBuffer): readonly LabelSum[] {
    const candidates = this.#refresh(sums, at);
    if (candidates.length > 0) this.#assignSlots(candidates, at);
    const rest: LabelSum[] = [];
    for (const sum of sums) {
      const slot = this.#slots.get(sum.key);
      if (slot === undefined) {
        rest.push(sum);
        continue;
      }
      columns.labelSets.push(slot.labels);
      columns.values.push(slot.value);
    }
    return rest;
  }

  /** Updates the slots of present label sets and expires old ones; returns the sums that have no slot. */
  #refresh(sums: readonly LabelSum[], at: Instant): LabelSum[] {
    const candidates: LabelSum[] = [];
    for (const sum of sums) {
      const slot = this.#slots.get(sum.key);
      if (slot === undefined) {
        candidates.push(sum);
        continue;
      }
      slot.value = sum.value;
      slot.lastSeen = at;
    }
    if (sums.length - candidates.length < this.#slots.size) this.#expireSlots(at);
    return candidates;
  }

  #expireSlots(at: Instant): void {
    for (const [key, { lastSeen }] of this.#slots) {
      if (at.monotonicMs - lastSeen.monotonicMs >= SLOT_TTL_MS) this.#slots.delete(key);
    }
  }

  /** Assigns free slots first, then those of absent label sets, then those of much smaller present ones. */
  #assignSlots(candidates: LabelSum[], at: Instant): void {
    const isShort = this.#slots.size + candidates.length > this.#capacity;
    if (isShort) candidates.sort(compareByValueThenKey);
    const incumbents = isShort ? this.#listReplaceableFirst(at).values() : [].values();
    for (const { key, labels, value } of candidates) {
      if (this.#slots.size >= this.#capacity) {
        const [incumbentKey, incumbent] = incumbents.next().value ?? [];
        if (incumbentKey === undefined || incumbent === undefined) return;
        const isReplaceable =
          incumbent.lastSeen === at
            ? value > REPLACEMENT_FACTOR * incumbent.value
            : this.#spendRelease(at.monotonicMs);
        if (!isReplaceable) return;
        this.#slots.delete(incumbentKey);
      }
      this.#slots.set(key, { labels, value, lastSeen: at });
    }
  }

  #spendRelease(nowMs: number): boolean {
    const elapsedMs = nowMs - (this.#budgetedAtMs ?? nowMs);
    const earned = (this.#capacity * elapsedMs) / SLOT_TTL_MS;
    this.#releaseBudget = Math.min(this.#capacity, this.#releaseBudget + earned);
    this.#budgetedAtMs = nowMs;
    if (this.#releaseBudget < 1) return false;
    this.#releaseBudget -= 1;
    return true;
  }

  /** Absent label sets, those that left first at the front; then present ones, the smallest first. */
  #listReplaceableFirst(at: Instant): [string, Slot][] {
    return [...this.#slots].toSorted(([, a], [, b]) => {
      const [isAbsentA, isAbsentB] = [a.lastSeen !== at, b.lastSeen !== at];
      if (isAbsentA !== isAbsentB) return isAbsentA ? -1 : 1;
      return isAbsentA ? a.lastSeen.monotonicMs - b.lastSeen.monotonicMs : a.value - b.value;
    });
  }
}

function compareByValueThenKey(a: LabelSum, b: LabelSum): number {
  if (a.value !== b.value) return b.value - a.value;
  return a.key < b.key ? -1 : 1;
}
