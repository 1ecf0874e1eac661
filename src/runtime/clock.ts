/** Where time comes from. Tests bring their own. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch; may jump. For timestamps and signatures. */
  now(): number;
  /** Milliseconds since some fixed moment; never goes backwards. For durations. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's time: the only place that reads it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  // Not that of `node:timers/promises`: it makes an error of its own, with a stack, for each sleep that is given up.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const end = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      // What is due already is not in the past: Node warns of negative times.
      const timer = setTimeout(end, Math.max(0, ms));
      const giveUp = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
    }),
};
