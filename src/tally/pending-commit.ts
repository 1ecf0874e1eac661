import type { ItemCount } from '../runtime/steps.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * A commit that has begun. It can only be completed: after an abort, too, because the listing is good. Its steps may be
 * run in turns of the event loop. A caller that needs the state of the tally meanwhile runs the remaining steps first.
 */
export class PendingCommit implements Iterator<ItemCount, Snapshot> {
  #state: { readonly steps: Iterator<ItemCount, Snapshot> } | { readonly snapshot: Snapshot };

  constructor(steps: Iterator<ItemCount, Snapshot>) {
    this.#state = { steps };
  }

  get isComplete(): boolean {
    return 'snapshot' in this.#state;
  }

  /** Runs the next step. */
  next(): IteratorResult<ItemCount, Snapshot> {
    if ('snapshot' in this.#state) return { done: true, value: this.#state.snapshot };
    const step = this.#state.steps.next();
    // The steps hold the whole listing.
    if (step.done === true) this.#state = { snapshot: step.value };
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
