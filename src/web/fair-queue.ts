import { FairShare } from './fair-share.ts';

/** A request gave way to one of a client that holds less. */
export class GaveWayError extends Error {
  override readonly name = 'GaveWayError';
}

interface Waiter {
  readonly client: string;
  readonly start: () => void;
  readonly reject: (error: unknown) => void;
}

export interface FairQueueLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

/** Runs a few tasks at a time. The others wait, their clients take turns; if too many wait, one gives way. */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #waiting = new FairShare<Waiter>();
  #runningCount = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Runs a task when it is its turn. Rejects with a {@link GaveWayError}, or with the signal's reason if it aborts while
   * the task waits.
   */
  async run<T>(client: string, signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    if (this.#runningCount < this.#limits.maxRunning) this.#runningCount += 1;
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
      this.#waiting.add(waiter);
      if (this.#waiting.size > this.#limits.maxWaiting) this.#evict();
    });
  }

  #evict(): void {
    const victim = this.#waiting.findVictim();
    if (victim === undefined) return;
    this.#waiting.delete(victim);
    victim.reject(new GaveWayError('Too many requests wait.'));
  }
}
