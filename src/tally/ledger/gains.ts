/** Bytes gained since the account was last updated. */
export interface Gain {
  readonly bytes: number;
  /** Number of byte counts that decreased and therefore count whole. */
  readonly resetCount: number;
}

export const NO_GAIN: Gain = { bytes: 0, resetCount: 0 };

/** A larger value adds the difference; a smaller one is a reset and adds itself. */
export function measureGain(previousBytes: number, bytes: number): Gain {
  return bytes >= previousBytes ? { bytes: bytes - previousBytes, resetCount: 0 } : { bytes, resetCount: 1 };
}

/** When the departed accounts of a task are matched, and until when they are remembered. */
export interface MatchTimes {
  /** When the task was last seen, in monotonic milliseconds. */
  readonly lastSeenMs: number;
  /** Departed accounts that were last seen by then are forgotten. */
  readonly forgetBeforeMs: number;
}
