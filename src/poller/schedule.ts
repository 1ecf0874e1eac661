/** First polls less than this apart start together: a wake-up for each would cost more than the poll. */
const TICK_MS = 250;

/** Longest gap between the first polls of service codes that were added or changed by a reload. */
const PROMPT_GAP_MS = 100;

/** Computes the delay of a first poll: those of all service codes are spread evenly over the interval. */
export function computeFirstDelayMs(index: number, count: number, intervalMs: number): number {
  const gapMs = intervalMs / count;
  const delayMs = index * gapMs;
  return gapMs < TICK_MS ? delayMs - (delayMs % TICK_MS) : delayMs;
}

/** Computes the delay of the first poll after a reload: soon, one after the other, within the interval. */
export function computeReloadDelayMs(index: number, count: number, intervalMs: number): number {
  return intervalMs / count < PROMPT_GAP_MS
    ? computeFirstDelayMs(index, count, intervalMs)
    : index * PROMPT_GAP_MS;
}

/** The next point of the polling grid. Missed ones are skipped: a slow service is not polled more often. */
export function computeNextPoll(dueMs: number, intervalMs: number, nowMs: number) {
  const overlapCount = Math.max(0, Math.floor((nowMs - dueMs) / intervalMs));
  return { dueMs: dueMs + (overlapCount + 1) * intervalMs, overlapCount };
}

/** Finds the first point of the polling grid, on which `dueMs` is, that is not before `minMs`. */
export function findFirstPollAfter(dueMs: number, intervalMs: number, minMs: number): number {
  return dueMs + Math.max(0, Math.ceil((minMs - dueMs) / intervalMs)) * intervalMs;
}
