import { systemClock, type Clock } from '../../src/clock.ts';

/** A clock that runs some times as fast as time does, until it is stopped. Nothing sleeps by it faster. */
export class FastClock implements Clock {
  readonly #startMs: number;
  readonly #pace: number;
  #stoppedAtMs: number | undefined;

  constructor(pace: number) {
    this.#startMs = systemClock.now();
    this.#pace = pace;
  }

  now(): number {
    const elapsedMs = (this.#stoppedAtMs ?? systemClock.now()) - this.#startMs;
    return this.#startMs + Math.floor(elapsedMs * this.#pace);
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }

  /** Time stands still from now on. */
  stop(): void {
    this.#stoppedAtMs ??= systemClock.now();
  }
}
