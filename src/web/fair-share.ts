/**
 * What clients hold of something that is limited. When it is full, the client that holds the most gives way, its oldest
 * entry first; of clients that hold equally much, the one that was active the longest ago.
 */
export class FairShare<Entry extends { readonly client: string }> {
  /** The client that was active the longest ago first; of each client, the oldest entry first. */
  readonly #byClient = new Map<string, Set<Entry>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an entry; one that is there already becomes the newest. */
  add(entry: Entry): void {
    this.delete(entry);
    const entries = this.#byClient.get(entry.client) ?? new Set();
    this.#byClient.delete(entry.client);
    this.#byClient.set(entry.client, entries.add(entry));
    this.#size += 1;
  }

  /** Returns whether there was such an entry. */
  delete(entry: Entry): boolean {
    const entries = this.#byClient.get(entry.client);
    if (entries?.delete(entry) !== true) return false;
    this.#size -= 1;
    if (entries.size === 0) this.#byClient.delete(entry.client);
    return true;
  }

  /** Finds the entry that gives way first, of those that may. */
  findVictim(mayGiveWay: (entry: Entry) => boolean = () => true): Entry | undefined {
    const largestFirst = [...this.#byClient.values()].toSorted((a, b) => b.size - a.size);
    for (const entries of largestFirst) for (const entry of entries) if (mayGiveWay(entry)) return entry;
    return undefined;
  }

  /** Removes and returns the oldest entry of the client whose last turn was the longest ago. */
  takeTurn(): Entry | undefined {
    for (const [client, entries] of this.#byClient)
      for (const entry of entries) {
        this.delete(entry);
        if (this.#byClient.delete(client)) this.#byClient.set(client, entries);
        return entry;
      }
    return undefined;
  }
}
