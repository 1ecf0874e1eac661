import { ManualClock } from './manual-clock.ts';

/** A clock that simulates a suspended process: time passes, but no sleep ends. */
export class SuspendableClock extends ManualClock {
  #suspendedMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.#suspendedMs;
  }

  suspend(ms: number): void {
    this.#suspendedMs += ms;
  }

  /** Resumes the process and ends the sleeps that are due. */
  resume(): void {
    const passedMs = this.#suspendedMs;
    this.#suspendedMs = 0;
    this.advance(passedMs);
  }
}
