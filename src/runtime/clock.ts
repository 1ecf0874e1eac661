/** The source of time. Tests inject their own. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch, for timestamps and signatures. It may jump. */
  now(): number;
  /** Milliseconds since an arbitrary moment, for durations. It never goes backwards. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** No other module reads the time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  // `node:timers/promises` creates an AbortError with a stack for each aborted sleep.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const finish = (): void => {
        signal?.removeEventListener('abort', cancel);
        resolve();
      };
      // Node.js warns about negative times.
      const timer = setTimeout(finish, Math.max(0, ms));
      const cancel = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', cancel, { once: true });
    }),
};

/** Coarser than the readings of both clocks, so that timestamps that are derived twice are equal. */
const OFFSET_STEP_MS = 100;

/**
 * Added to a monotonic time, gives the wall-clock time of that moment, as the wall clock counts now. A
 * timestamp that was read from the wall clock has a false age as soon as that clock is set.
 */
export function getWallOffsetMs(clock: Pick<Clock, 'now' | 'monotonic'>): number {
  return Math.round((clock.now() - clock.monotonic()) / OFFSET_STEP_MS) * OFFSET_STEP_MS;
}
