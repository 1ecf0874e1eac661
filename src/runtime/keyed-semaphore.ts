/** What passes through one turnstile. */
interface Turnstile {
  inside: number;
  /** Whoever waits, in the order in which they came; to be called when it is their turn. */
  readonly waiting: Set<() => void>;
}

/** Lets so many through at a time by each name; the others wait in the order in which they came. */
export class Turnstiles {
  /** A new one holds from the next who leaves on. */
  limit: number;
  /** Only those that somebody is in. */
  readonly #turnstiles = new Map<string, Turnstile>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Runs it when there is room; rejects as it does, or with the signal's reason where that aborts before. */
  async pass(name: string, run: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await this.#enter(name, signal);
    try {
      await run();
    } finally {
      this.#leave(name);
    }
  }

  async #enter(name: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const turnstile = this.#turnstiles.get(name) ?? { inside: 0, waiting: new Set() };
    this.#turnstiles.set(name, turnstile);
    if (turnstile.inside < this.limit) turnstile.inside += 1;
    else await turnOf(turnstile, signal);
  }

  /** Whoever is let in is counted at once: who comes meanwhile must not take the place. */
  #leave(name: string): void {
    const turnstile = this.#turnstiles.get(name);
    if (turnstile === undefined) throw new TypeError(`Expected somebody to be in ${name}`);
    turnstile.inside -= 1;
    for (const enter of turnstile.waiting) {
      if (turnstile.inside >= this.limit) break;
      turnstile.waiting.delete(enter);
      turnstile.inside += 1;
      enter();
    }
    if (turnstile.inside === 0) this.#turnstiles.delete(name);
  }
}

function turnOf({ waiting }: Turnstile, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = (): void => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    const giveUp = (): void => {
      waiting.delete(enter);
      reject(signal.reason);
    };
    waiting.add(enter);
    signal.addEventListener('abort', giveUp, { once: true });
  });
}
