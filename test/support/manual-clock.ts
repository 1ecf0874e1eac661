import type { Clock } from '../../src/clock.ts';

/** A clock that stands still until it is told to move on. */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #sleepers = new Set<{ wakeAtMs: number; wake: () => void }>();

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  get sleepers(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const leave = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const sleeper = { wakeAtMs: this.#nowMs + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakeAtMs > this.#nowMs) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}
