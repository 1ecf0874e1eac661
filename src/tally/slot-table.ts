import type { Instant } from './instant.ts';

/** An item replaces a present one only if it is larger by this factor: slots do not flap. */
const REPLACEMENT_FACTOR = 2;

export interface SlotOptions<Item> {
  readonly capacity: number;
  /** What decides who gets a slot: the first number, where it is equal the next one. Default: the key. */
  readonly getSize?: (item: Item) => readonly number[];
  /** Whether a much larger item takes the slot of one that is present. */
  readonly canReplacePresent?: boolean;
}

/** An item with a slot; `item` is undefined if it is absent. */
interface Incumbent<Item> {
  readonly key: string;
  readonly item: Item | undefined;
}

/**
 * A limited number of slots for the tasks or the names of a listing. When slots are short, the largest
 * items get those of absent ones, and then those of much smaller ones.
 */
export class SlotTable<Item extends { readonly key: string }> {
  readonly #options: Required<SlotOptions<Item>>;
  /** When each item with a slot was last seen, by key. */
  readonly #lastSeen = new Map<string, Instant>();

  constructor(options: SlotOptions<Item>) {
    this.#options = { getSize: () => [], canReplacePresent: false, ...options };
  }

  /** Gives a slot to an item of an earlier process, even beyond the capacity. */
  restore(key: string, seen: Instant): void {
    this.#lastSeen.set(key, seen);
  }

  has(key: string): boolean {
    return this.#lastSeen.has(key);
  }

  assign(items: readonly Item[], at: Instant): void {
    const candidates = items.filter(({ key }) => !this.#lastSeen.has(key));
    for (const { key } of items) if (this.#lastSeen.has(key)) this.#lastSeen.set(key, at);
    if (this.#lastSeen.size + candidates.length > this.#options.capacity)
      this.#assignShort(items, candidates, at);
    else for (const { key } of candidates) this.#lastSeen.set(key, at);
  }

  #assignShort(items: readonly Item[], candidates: readonly Item[], at: Instant): void {
    const { capacity, getSize } = this.#options;
    const incumbents = this.#listReplaceable(items, at).values();
    const largestFirst = candidates.toSorted(
      (a, b) => compareSizes(getSize(b), getSize(a)) || (a.key < b.key ? -1 : 1),
    );
    for (const candidate of largestFirst) {
      if (this.#lastSeen.size >= capacity) {
        const incumbent = incumbents.next().value;
        if (incumbent === undefined || !this.#isReplaceable(incumbent, candidate)) break;
        this.#lastSeen.delete(incumbent.key);
      }
      this.#lastSeen.set(candidate.key, at);
    }
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

  #isReplaceable({ item }: Incumbent<Item>, candidate: Item): boolean {
    const { getSize } = this.#options;
    return item === undefined || compareSizes(getSize(candidate), getSize(item), REPLACEMENT_FACTOR) > 0;
  }
}

/** Above 0 if the first number that differs is larger than the factor times the other. */
function compareSizes(a: readonly number[], b: readonly number[], factor = 1): number {
  const index = a.findIndex((number, at) => number !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - factor * (b[index] ?? 0);
}
