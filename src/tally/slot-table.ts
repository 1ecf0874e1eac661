import type { Instant } from './instant.ts';

/** Slots of absent items that are released at most once each in this time, if releases are paced. */
const PACE_MS = 60 * 60 * 1000;
/** An item replaces a present one only if it is larger by this factor: slots do not flap. */
const REPLACEMENT_FACTOR = 2;

export interface SlotOptions<Item> {
  readonly capacity: number;
  /** What decides which items get slots: the first number, and where it is equal, the next one. Default: the key. */
  readonly getSize?: (item: Item) => readonly number[];
  /** Whether a much larger item takes the slot of one that is present. */
  readonly canReplacePresent?: boolean;
  /**
   * Whether at most as many slots of absent items as there are slots are released an hour: otherwise a terminal that invents
   * values would create as many new series with every listing.
   */
  readonly isPaced?: boolean;
  /** An absent item loses its slot after this time. Default: when another item needs it. */
  readonly retentionMs?: number;
}

/** An item with a slot; `item` is undefined if it is absent. */
interface Incumbent<Item> {
  readonly key: string;
  readonly item: Item | undefined;
}

/**
 * A limited number of slots for what a listing holds: label sets, servers, or tasks. When slots are short, the largest items get
 * those of absent ones, and then those of much smaller ones.
 */
export class SlotTable<Item extends { readonly key: string }> {
  readonly #options: Required<SlotOptions<Item>>;
  /** When each item with a slot was last seen, by key. */
  readonly #lastSeen = new Map<string, Instant>();
  /** Number of slots of absent items that may be released now. */
  #budget: number;
  #budgetedAtMs: number | undefined;

  constructor(options: SlotOptions<Item>) {
    const defaults = { getSize: () => [], canReplacePresent: false, isPaced: false, retentionMs: Infinity };
    this.#options = { ...defaults, ...options };
    this.#budget = options.capacity;
  }

  /** Gives a slot to an item of an earlier process, even beyond the capacity. */
  restore(key: string, seen: Instant): void {
    this.#lastSeen.set(key, seen);
  }

  /** Whether an item has a slot. */
  has(key: string): boolean {
    return this.#lastSeen.has(key);
  }

  /** The items with slots, by key, and when each was last seen. */
  get entries(): Iterable<readonly [key: string, seen: Instant]> {
    return this.#lastSeen;
  }

  /** Assigns slots to the items of a listing; returns the keys that have lost theirs to other items. */
  assign(items: readonly Item[], at: Instant): readonly string[] {
    const { capacity, retentionMs } = this.#options;
    const candidates = items.filter(({ key }) => !this.#lastSeen.has(key));
    for (const { key } of items) if (this.#lastSeen.has(key)) this.#lastSeen.set(key, at);
    if (retentionMs < Infinity)
      for (const [key, { monotonicMs }] of this.#lastSeen)
        if (at.monotonicMs - monotonicMs >= retentionMs) this.#lastSeen.delete(key);
    if (this.#lastSeen.size + candidates.length > capacity) return this.#assignShort(items, candidates, at);
    for (const { key } of candidates) this.#lastSeen.set(key, at);
    return [];
  }

  #assignShort(items: readonly Item[], candidates: readonly Item[], at: Instant): readonly string[] {
    const { capacity, getSize } = this.#options;
    const released: string[] = [];
    const incumbents = this.#listReplaceable(items, at).values();
    const largestFirst = candidates.toSorted(
      (a, b) => compareSizes(getSize(b), getSize(a)) || (a.key < b.key ? -1 : 1),
    );
    for (const candidate of largestFirst) {
      if (this.#lastSeen.size >= capacity) {
        const incumbent = incumbents.next().value;
        if (incumbent === undefined || !this.#isReplaceable(incumbent, candidate, at)) break;
        this.#lastSeen.delete(incumbent.key);
        released.push(incumbent.key);
      }
      this.#lastSeen.set(candidate.key, at);
    }
    return released;
  }

  /** Absent items, those that left first at the front; then present ones, the smallest first. */
  #listReplaceable(items: readonly Item[], at: Instant): readonly Incumbent<Item>[] {
    const { getSize, canReplacePresent } = this.#options;
    const absent = [...this.#lastSeen]
      .filter(([, seen]) => seen !== at)
      .toSorted(([, a], [, b]) => a.monotonicMs - b.monotonicMs)
      .map(([key]) => ({ key, item: undefined }));
    if (!canReplacePresent) return absent;
    const present = items
      .filter(({ key }) => this.#lastSeen.has(key))
      .toSorted((a, b) => compareSizes(getSize(a), getSize(b)))
      .map((item) => ({ key: item.key, item }));
    return [...absent, ...present];
  }

  #isReplaceable({ item }: Incumbent<Item>, candidate: Item, { monotonicMs }: Instant): boolean {
    const { getSize, isPaced } = this.#options;
    if (item !== undefined) return compareSizes(getSize(candidate), getSize(item), REPLACEMENT_FACTOR) > 0;
    return !isPaced || this.#spendBudget(monotonicMs);
  }

  #spendBudget(nowMs: number): boolean {
    const { capacity } = this.#options;
    const earned = (capacity * (nowMs - (this.#budgetedAtMs ?? nowMs))) / PACE_MS;
    this.#budget = Math.min(capacity, this.#budget + earned);
    this.#budgetedAtMs = nowMs;
    if (this.#budget < 1) return false;
    this.#budget -= 1;
    return true;
  }
}

/** Above 0 if the first number that differs is larger than the factor times the other. */
function compareSizes(a: readonly number[], b: readonly number[], factor = 1): number {
  const index = a.findIndex((number, at) => number !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - factor * (b[index] ?? 0);
}
