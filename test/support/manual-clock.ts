import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../src/runtime/clock.ts';

/** A clock that advances only when the test calls `advance`. */
export class ManualClock implements Clock {
  #nowMs: number;
  #wallOffsetMs = 0;
  readonly #sleepers = new Set<{ wakeAtMs: number; wake: () => void }>();

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  get sleeperCount(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  /** Sets the wall clock forward, or back. */
  setWallClockForward(ms: number): void {
    this.#wallOffsetMs += ms;
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
      const cancel = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', cancel);
        resolve();
      };
      const sleeper = { wakeAtMs: this.#nowMs + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', cancel, { once: true });
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

/** Advances a clock and runs everything that is due until it waits again. */
export async function advanceClock(clock: ManualClock, ms: number): Promise<void> {
  clock.advance(ms);
  await nextTurn();
}
