import { setTimeout as delay } from 'node:timers/promises';

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
  sleep: async (ms, signal) => {
    try {
      await delay(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};
