import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Does the work on the bodies of all service codes in pieces, each in its own turn of the event loop, so that
 * timers run in between, and new connections are accepted: Node.js accepts one in each turn.
 */
export class TurnGate {
  #last: Promise<void> = Promise.resolve();

  /** Does some work in a later turn, in the order of the calls. */
  async run<T>(work: () => T): Promise<T> {
    this.#last = this.#last.then(() => nextTurn());
    await this.#last;
    return work();
  }
}
