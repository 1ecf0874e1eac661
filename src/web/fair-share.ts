/** Something limited that a client holds. */
export interface Share {
  /** Address or network of the client. */
  readonly client: string;
}

/**
 * What clients hold of something limited. When it is full, the client that holds the most gives way, its oldest idle
 * entry first; of clients that hold equally much, the one that was active the longest ago. If no entry is idle, a busy
 * one gives way.
 */
export class FairShare<Entry extends Share> {
  readonly #limit: number;
  readonly #isIdle: (entry: Entry) => boolean;
  /** The client that was active the longest ago first; of each client, the oldest entry first. */
  readonly #byClient = new Map<string, Set<Entry>>();
  #size = 0;

  constructor(limit: number, isIdle: (entry: Entry) => boolean = () => true) {
    this.#limit = limit;
    this.#isIdle = isIdle;
  }

  get entries(): readonly Entry[] {
    return [...this.#byClient.values()].flatMap((entries) => [...entries]);
  }

  /** Adds an entry; one that is there already becomes the newest. Returns the entry that gives way if it was full. */
  add(entry: Entry): Entry | undefined {
    this.delete(entry);
    const entries = this.#byClient.get(entry.client) ?? new Set();
    this.#byClient.delete(entry.client);
    this.#byClient.set(entry.client, entries.add(entry));
    this.#size += 1;
    return this.#size <= this.#limit ? undefined : (this.evict(this.#isIdle) ?? this.evict(() => true));
  }

  /** Returns whether there was such an entry. */
  delete(entry: Entry): boolean {
    const entries = this.#byClient.get(entry.client);
    if (entries?.delete(entry) !== true) return false;
    this.#size -= 1;
    if (entries.size === 0) this.#byClient.delete(entry.client);
    return true;
  }

  /** Removes and returns the entry that gives way first, of those that may. */
  evict(mayGiveWay: (entry: Entry) => boolean): Entry | undefined {
    const largestFirst = [...this.#byClient.values()].toSorted((a, b) => b.size - a.size);
    const victim = largestFirst.flatMap((entries) => [...entries]).find(mayGiveWay);
    if (victim !== undefined) this.delete(victim);
    return victim;
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

/** A request gave way to one of a client that holds less. */
export class GaveWayError extends Error {
  override readonly name = 'GaveWayError';
}

interface Waiter extends Share {
  readonly start: () => void;
  readonly reject: (error: unknown) => void;
}

/** Runs a few tasks at a time. The others wait, their clients take turns; if too many wait, one gives way. */
export class FairQueue {
  readonly #maxRunning: number;
  readonly #waiting: FairShare<Waiter>;
  #runningCount = 0;

  constructor({ maxRunning, maxWaiting }: { readonly maxRunning: number; readonly maxWaiting: number }) {
    this.#maxRunning = maxRunning;
    this.#waiting = new FairShare(maxWaiting);
  }

  /**
   * Runs a task when it is its turn. Rejects with a {@link GaveWayError}, or with the signal's reason if it aborts while
   * the task waits.
   */
  async run<T>(client: string, signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    if (this.#runningCount < this.#maxRunning) this.#runningCount += 1;
    else await this.#wait(client, signal);
    try {
      return await task();
    } finally {
      const next = this.#waiting.takeTurn();
      if (next === undefined) this.#runningCount -= 1;
      else next.start();
    }
  }

  /** Resolves when a task that has ended passes its place on. */
  async #wait(client: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((start, reject) => {
      const waiter = { client, start, reject };
      const leave = (): void => {
        if (this.#waiting.delete(waiter)) reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiter)?.reject(new GaveWayError('Too many requests wait.'));
    });
  }
}
