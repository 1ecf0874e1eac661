import { systemClock, type Clock } from '../../../src/runtime/clock.ts';

/** A clock whose `now` advances `speedFactor` times as fast as wall-clock time. It can be paused. `sleep` is not accelerated. */
export class AcceleratedClock implements Clock {
  readonly #startMs: number;
  readonly #speedFactor: number;
  #pausedAtMs: number | undefined;
  /** Total wall-clock time of completed pauses. */
  #pausedMs = 0;

  constructor(speedFactor: number) {
    this.#startMs = systemClock.now();
    this.#speedFactor = speedFactor;
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
