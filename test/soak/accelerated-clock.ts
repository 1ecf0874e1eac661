import { systemClock, type Clock } from '../../src/runtime/clock.ts';

/** A clock that runs some times as fast as time does, until it is stopped. Nothing sleeps by it faster. */
export class AcceleratedClock implements Clock {
  readonly #startMs: number;
  readonly #speedFactor: number;
  #stoppedAtMs: number | undefined;

  constructor(pace: number) {
    this.#startMs = systemClock.now();
    this.#speedFactor = pace;
  }

  now(): number {
    const elapsedMs = (this.#stoppedAtMs ?? systemClock.now()) - this.#startMs;
    return this.#startMs + Math.floor(elapsedMs * this.#speedFactor);
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }

  /** Stops the clock. */
  stop(): void {
    this.#stoppedAtMs ??= systemClock.now();
  }
}
