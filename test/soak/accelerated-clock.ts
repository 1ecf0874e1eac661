import { systemClock, type Clock } from '../../src/runtime/clock.ts';

/** A clock that runs some times as fast as time does, unless it is paused. Nothing sleeps by it faster. */
export class AcceleratedClock implements Clock {
  readonly #startMs: number;
  readonly #speedFactor: number;
  #pausedAtMs: number | undefined;
  /** How long it was paused. */
  #pausedMs = 0;

  constructor(pace: number) {
    this.#startMs = systemClock.now();
    this.#speedFactor = pace;
  }

  now(): number {
    const elapsedMs = (this.#pausedAtMs ?? systemClock.now()) - this.#startMs - this.#pausedMs;
    return this.#startMs + Math.floor(elapsedMs * this.#speedFactor);
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }

  pause(): void {
    this.#pausedAtMs ??= systemClock.now();
  }

  resume(): void {
    if (this.#pausedAtMs !== undefined) this.#pausedMs += systemClock.now() - this.#pausedAtMs;
    this.#pausedAtMs = undefined;
  }
}
