import type { Clock } from '../runtime/clock.ts';

/** What bodies get of a turn of the event loop. Timers and new connections, of which Node.js accepts one a turn, follow. */
const TURN_MS = 5;

/** Limits the time that the bodies of all service codes together take of a turn of the event loop. */
export class TurnGate {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waiting: (() => void)[] = [];
  /** Since a turn was last waited for. */
  #spentMs = 0;
  #isWaiting = false;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Does some work at once if the turn has time left, else in a later turn, in the order of the calls. */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      this.#workOn();
    });
  }

  #workOn(): void {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const startedMs = this.#clock.monotonic();
      next();
      this.#spentMs += this.#clock.monotonic() - startedMs;
    }
    if (this.#waiting.length === 0 || this.#isWaiting) return;
    this.#isWaiting = true;
    setImmediate(() => {
      this.#isWaiting = false;
      this.#spentMs = 0;
      this.#workOn();
    });
  }

  #take(): (() => void) | undefined {
    return this.#spentMs < TURN_MS ? this.#waiting.shift() : undefined;
  }
}
