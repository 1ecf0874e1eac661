import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../runtime/clock.ts';

/** What bodies get of an event loop turn. Timers and new connections, one a turn in Node.js, follow. */
const TURN_MS = 5;

/** Limits the time that the bodies of all service codes together take of a turn of the event loop. */
export class TurnGate {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Since a turn was last waited for. */
  #spentMs = 0;
  #nextTurn: Promise<void> | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Does some work at once if the turn has time left, else in a later turn, in the order of the calls. */
  async run<T>(work: () => T): Promise<T> {
    while (this.#spentMs >= TURN_MS) await (this.#nextTurn ??= this.#waitForTurn());
    const startedMs = this.#clock.monotonic();
    try {
      return work();
    } finally {
      this.#spentMs += this.#clock.monotonic() - startedMs;
    }
  }

  async #waitForTurn(): Promise<void> {
    await nextTurn();
    this.#spentMs = 0;
    this.#nextTurn = undefined;
  }
}
