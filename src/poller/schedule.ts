/** No pause that the service asks for is heeded for longer: it may have meant well and computed badly. */
const MAX_PAUSE_MS = 5 * 60 * 1000;

/**
 * First polls that would be less far apart begin together. To wake a processor for each poll, and to find its caches cold,
 * costs more than the poll; and each goes on at the pace of its first.
 */
const TICK_MS = 250;

/** How long the first poll waits, so that the polls of all service codes spread evenly over the interval. */
export function firstDelayMs(index: number, count: number, intervalMs: number): number {
  const gapMs = intervalMs / count;
  const delayMs = index * gapMs;
  return gapMs < TICK_MS ? delayMs - (delayMs % TICK_MS) : delayMs;
}

/** How far apart first polls are at most that a change of the configuration asks for: ten a second or more. */
const PROMPT_GAP_MS = 100;

/**
 * How long the first poll waits of a service code that has come, or goes on with other settings: soon, but one after
 * the other, and within the interval.
 */
export function promptDelayMs(index: number, count: number, intervalMs: number): number {
  return intervalMs / count < PROMPT_GAP_MS ? firstDelayMs(index, count, intervalMs) : index * PROMPT_GAP_MS;
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

/** No loop that is late by less is suspected: a process that was suspended needs a moment to catch up. */
const MIN_PATIENCE_MS = 60_000;

/**
 * Whether a poll loop stands still: since `sinceMs` (monotonic) it was due to wake, or has been at a poll, for longer
 * than a minute, and than twice what a poll may take.
 */
export function standsStill(sinceMs: number, pollMayTakeMs: number, nowMs: number): boolean {
  return nowMs - sinceMs > Math.max(MIN_PATIENCE_MS, 2 * pollMayTakeMs);
}
