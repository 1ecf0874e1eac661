/** A moment, on both clocks: timestamps come from the wall, durations from the monotonic one. */
export interface Instant {
  /** Milliseconds since the Unix epoch; may jump. */
  readonly wallMs: number;
  /** Milliseconds since some fixed moment; never goes backwards. */
  readonly monotonicMs: number;
}
