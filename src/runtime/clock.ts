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
