/** Remembers the entries that were used last, and no more than `capacity` of them. */
export class BoundedMemory {
  readonly #capacity: number;
  readonly #entries = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether an entry is remembered; it counts as used. */
  has(entry: string): boolean {
    if (!this.#entries.delete(entry)) return false;
    this.#entries.add(entry);
    return true;
  }

  add(entry: string): void {
    this.#entries.delete(entry);
    this.#entries.add(entry);
    const [oldest] = this.#entries;
    if (this.#entries.size > this.#capacity && oldest !== undefined) this.#entries.delete(oldest);
  }
}
