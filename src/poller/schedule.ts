/** No pause that the service asks for is heeded for longer: it may have meant well and computed badly. */
const MAX_PAUSE_MS = 5 * 60 * 1000;

/** How long the first poll waits, so that the polls of all service codes spread evenly over the interval. */
export function firstDelayMs(index: number, count: number, intervalMs: number): number {
  return (intervalMs * index) / count;
}

/** When the next poll is due, and how many were due while the last one still ran. */
export interface NextPoll {
  readonly dueMs: number;
  readonly overlapped: number;
}

/**
 * The next point of the grid on which polls are due, after one that was due at `dueMs` and ended at `nowMs`.
 * Points that have passed are left out, never made up for: a slow service must not be asked more often.
 */
export function nextPoll(dueMs: number, intervalMs: number, nowMs: number): NextPoll {
  const overlapped = Math.max(0, Math.floor((nowMs - dueMs) / intervalMs));
  return { dueMs: dueMs + (overlapped + 1) * intervalMs, overlapped };
}

/** Until when a service that asked for a pause is left alone (`Retry-After`), within reason. */
export function pausedUntilMs(nowMs: number, retryAfterMs: number | undefined): number {
  return nowMs + Math.min(retryAfterMs ?? 0, MAX_PAUSE_MS);
}
