import { ManualClock } from './manual-clock.ts';

/** A clock whose time can go on while nobody is woken, as if the process were suspended. */
export class SuspendableClock extends ManualClock {
  #passedMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.#passedMs;
  }

  /** Time goes on; nobody is woken. */
  suspend(ms: number): void {
    this.#passedMs += ms;
  }

  /** Whoever should have been woken meanwhile is. */
  resume(): void {
    const passedMs = this.#passedMs;
    this.#passedMs = 0;
    this.advance(passedMs);
  }
}
