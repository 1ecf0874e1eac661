/** A group and its entries, least recently added first. */
type Group<T> = readonly [client: string, entries: Set<T>];

/**
 * Entries grouped by client, for limits that many clients share: the client with the most entries gives way first, so
 * one client cannot use up a limit at the expense of the others.
 */
export class ClientGroups<T> {
  /** Least recently used client first. */
  readonly #groups = new Map<string, Set<T>>();
  #size = 0;

  /** Number of entries of all clients. */
  get size(): number {
    return this.#size;
  }

  /** Number of entries of one client. */
  countOf(client: string): number {
    return this.#groups.get(client)?.size ?? 0;
  }

  /** Adds an entry, or marks an existing one and its client as most recently used. */
  add(client: string, entry: T): void {
    const entries = this.#groups.get(client) ?? new Set();
    this.delete(client, entry);
    this.#groups.delete(client);
    this.#groups.set(client, entries.add(entry));
    this.#size += 1;
  }

  /** Returns whether there was such an entry. */
  delete(client: string, entry: T): boolean {
    const entries = this.#groups.get(client);
    if (entries?.delete(entry) !== true) return false;
    this.#size -= 1;
    if (entries.size === 0) this.#groups.delete(client);
    return true;
  }

  /** Removes and returns the oldest entry of the least recently used client, and marks the client as used. */
  takeNext(): T | undefined {
    for (const [client, entries] of this.#groups)
      for (const entry of entries) {
        this.delete(client, entry);
        this.#groups.delete(client);
        if (entries.size > 0) this.#groups.set(client, entries);
        return entry;
      }
    return undefined;
  }

  /** Finds the oldest entry that matches, in the groups with the most entries first. */
  findInLargest(isWanted: (entry: T) => boolean): T | undefined {
    for (const [, entries] of this.#largestFirst())
      for (const entry of entries) if (isWanted(entry)) return entry;
    return undefined;
  }

  /** Finds the oldest entry of one client that matches. */
  findOf(client: string, isWanted: (entry: T) => boolean): T | undefined {
    for (const entry of this.#groups.get(client) ?? []) if (isWanted(entry)) return entry;
    return undefined;
  }

  /** Removes and returns the newest entry of the client with the most entries. */
  takeNewestOfLargest(): T | undefined {
    const [largest] = this.#largestFirst();
    if (largest === undefined) return undefined;
    const [client, entries] = largest;
    const newest = [...entries].at(-1);
    if (newest !== undefined) this.delete(client, newest);
    return newest;
  }

  /** Among groups of equal size, the least recently used comes first. */
  #largestFirst(): readonly Group<T>[] {
    return [...this.#groups].toSorted(([, a], [, b]) => b.size - a.size);
  }
}
