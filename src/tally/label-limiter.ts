import type { LabelSet, SampleColumns } from '../metrics/sample-columns.ts';
import type { Instant } from './instant.ts';
import type { LabelFolding } from './label-folding.ts';
import { encodeLabelKey, type LabelSum } from './label-sums.ts';
import { SampleBuffer } from './sample-buffer.ts';
import { SampleCache } from './sample-cache.ts';

/** An absent label set keeps its slot for this long while no present one needs it. */
const SLOT_TTL_MS = 60 * 60 * 1000;
/** A candidate replaces a present incumbent only if its value is larger by this factor: slots do not flap. */
const REPLACEMENT_FACTOR = 2;

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

/** The folded sums by level. */
class FoldedSums {
  readonly #levels = new Map<number, Map<string, FoldedSum>>();

  /** Adds to the sum of a label set of a level. */
  add(level: number, labels: LabelSet, value: number, unfoldedCount: number): void {
    const sums = this.#levels.get(level) ?? new Map<string, FoldedSum>();
    this.#levels.set(level, sums);
    const key = encodeLabelKey(labels);
    const sum = sums.get(key) ?? new FoldedSum(key, labels);
    sums.set(key, sum);
    sum.value += value;
    sum.unfoldedCount += unfoldedCount;
  }

  getLevel(level: number): readonly LabelSum[] {
    return [...(this.#levels.get(level)?.values() ?? [])];
  }
}

/**
 * Limits the label sets of one gauge family of one service code. The largest keep slots of their own; the rest fold,
 * one label at a time, so that sums stay exact.
 */
export class LabelLimiter {
  readonly #folding: LabelFolding;
  /** By level; most levels have none, because nothing has ever folded to them. */
  readonly #slots: (SlotTable | undefined)[] = [];
  readonly #sampleCache: SampleCache;

  constructor(serviceCode: string, folding: LabelFolding) {
    this.#sampleCache = new SampleCache(serviceCode);
    this.#folding = folding;
  }

  /** Folds the sums of a listing. */
  limit(sums: Iterable<LabelSum>, at: Instant): LimitedSamples {
    const samples = new SampleBuffer();
    const folded = new FoldedSums();
    const unfolded: LabelSum[] = [];
    for (const sum of sums) {
      const level = this.#folding.computeLevel(sum.labels);
      if (level === 0) unfolded.push(sum);
      else folded.add(level, sum.labels, sum.value, 1);
    }
    let foldedLabelSets = 0;
    for (let level = 0; level < this.#folding.levelCount; level += 1) {
      const ownSums = level === 0 ? unfolded : folded.getLevel(level);
      for (const sum of this.#assignSlots(level, ownSums, at, samples)) {
        foldedLabelSets += sum instanceof FoldedSum ? sum.unfoldedCount : 1;
        folded.add(level + 1, this.#folding.fold(sum.labels, level), sum.value, 0);
      }
    }
    return { samples: this.#sampleCache.update(samples), foldedLabelSets };
  }

  /** Adds the sums that have slots to `samples`; returns the others. */
  #assignSlots(
    level: number,
    sums: readonly LabelSum[],
    at: Instant,
    samples: SampleBuffer,
  ): readonly LabelSum[] {
    if (sums.length > 0) this.#slots[level] ??= new SlotTable(this.#folding.computeCapacity(level));
    return this.#slots[level]?.assign(sums, at, samples) ?? [];
  }
}

/** A label set with a slot; `value` is undefined if it is absent. */
interface Incumbent {
  readonly key: string;
  readonly value: number | undefined;
}

/**
 * The label sets of one level that are exposed. When slots are short, an absent label set releases its slot to a present
 * one at once. Such releases are limited to the number of slots per hour: otherwise a terminal that invents values would
 * create as many new series with every listing.
 */
class SlotTable {
  readonly #capacity: number;
  /** When each label set with a slot was last seen, by key. */
  readonly #lastSeen = new Map<string, Instant>();
  /** Number of slots of absent label sets that may be released now. */
  #releaseBudget: number;
  #budgetedAtMs: number | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#releaseBudget = capacity;
  }

  /** Adds the sums that have slots to `samples`; returns the others. */
  assign(sums: readonly LabelSum[], at: Instant, samples: SampleBuffer): readonly LabelSum[] {
    const candidates = this.#refresh(sums, at);
    const hasCandidates = candidates.length > 0;
    if (hasCandidates) this.#assignSlots(sums, candidates, at);
    const rest: LabelSum[] = [];
    for (const sum of sums) {
      if (hasCandidates && this.#lastSeen.get(sum.key) !== at) {
        rest.push(sum);
        continue;
      }
      samples.add(sum.labels, sum.value);
    }
    return rest;
  }

  /** Updates the slots of present label sets and expires old ones; returns the sums that have no slot. */
  #refresh(sums: readonly LabelSum[], at: Instant): LabelSum[] {
    const candidates: LabelSum[] = [];
    for (const sum of sums) {
      if (this.#lastSeen.has(sum.key)) this.#lastSeen.set(sum.key, at);
      else candidates.push(sum);
    }
    if (sums.length - candidates.length < this.#lastSeen.size) this.#expireSlots(at);
    return candidates;
  }

  #expireSlots(at: Instant): void {
    for (const [key, lastSeen] of this.#lastSeen) {
      if (at.monotonicMs - lastSeen.monotonicMs >= SLOT_TTL_MS) this.#lastSeen.delete(key);
    }
  }

  /** Assigns free slots first, then those of absent label sets, then those of much smaller present ones. */
  #assignSlots(sums: readonly LabelSum[], candidates: LabelSum[], at: Instant): void {
    const isShort = this.#lastSeen.size + candidates.length > this.#capacity;
    if (isShort) candidates.sort(compareByValueThenKey);
    const incumbents = isShort ? this.#listReplaceableFirst(sums, at).values() : [].values();
    for (const { key, value } of candidates) {
      if (this.#lastSeen.size >= this.#capacity) {
        const incumbent = incumbents.next().value;
        if (incumbent === undefined) return;
        const isReplaceable =
          incumbent.value === undefined
            ? this.#spendRelease(at.monotonicMs)
            : value > REPLACEMENT_FACTOR * incumbent.value;
        if (!isReplaceable) return;
        this.#lastSeen.delete(incumbent.key);
      }
      this.#lastSeen.set(key, at);
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
  #listReplaceableFirst(sums: readonly LabelSum[], at: Instant): readonly Incumbent[] {
    const absent = [...this.#lastSeen]
      .filter(([, lastSeen]) => lastSeen !== at)
      .toSorted(([, a], [, b]) => a.monotonicMs - b.monotonicMs)
      .map(([key]) => ({ key, value: undefined }));
    const present = sums.filter(({ key }) => this.#lastSeen.has(key)).toSorted((a, b) => a.value - b.value);
    return [...absent, ...present];
  }
}

function compareByValueThenKey(a: LabelSum, b: LabelSum): number {
  if (a.value !== b.value) return b.value - a.value;
  return a.key < b.key ? -1 : 1;
}
