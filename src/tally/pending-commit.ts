import type { ItemCount } from '../runtime/steps.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * A commit that has begun. It can only be completed: after an abort, too, because the listing is good. Its steps may be
 * run in turns of the event loop; whoever needs the state of the tally meanwhile runs the rest at once.
 */
export class PendingCommit implements Iterator<ItemCount, Snapshot> {
  readonly #steps: Iterator<ItemCount, Snapshot>;
  #snapshot: Snapshot | undefined;

  constructor(steps: Iterator<ItemCount, Snapshot>) {
    this.#steps = steps;
  }

  get isComplete(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Runs the next step. */
  next(): IteratorResult<ItemCount, Snapshot> {
    if (this.#snapshot !== undefined) return { done: true, value: this.#snapshot };
    const step = this.#steps.next();
    if (step.done === true) this.#snapshot = step.value;
    return step;
  }

  /** Runs all steps that are left. */
  complete(): Snapshot {
    for (;;) {
      const step = this.next();
      if (step.done === true) return step.value;
    }
  }
}
