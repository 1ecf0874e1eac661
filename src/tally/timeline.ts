import type { Instant } from './instant.ts';

/**
 * A clock for the state of one service code that continues from process to process. It stands still while the time
 * between two processes is unknown.
 */
export class Timeline {
  #offsetMs = 0;

  /**
   * Continues from the last good listing of an earlier process.
   *
   * @param lastMs - its time on the timeline
   * @param gapMs - the time since then; `undefined` if it is unknown
   */
  continueFrom(lastMs: number, gapMs: number | undefined, now: Instant): void {
    this.#offsetMs = lastMs + (gapMs ?? 0) - now.monotonicMs;
  }

  /** In whole milliseconds, which take half the digits. */
  fromMonotonic(monotonicMs: number): number {
    return Math.round(monotonicMs + this.#offsetMs);
  }

  toMonotonic(timeMs: number): number {
    return timeMs - this.#offsetMs;
  }
}
