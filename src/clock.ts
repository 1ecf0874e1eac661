/** Where time comes from. The only place that reads it from the machine; tests bring their own. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch; may jump. For timestamps and signatures. */
  now(): number;
  /** Milliseconds since some fixed moment; never goes backwards. For durations. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
