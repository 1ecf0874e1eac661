/** First polls less than this apart start together: a wake-up for each would cost more than the poll. */
const TICK_MS = 250;

/** Longest gap between the first polls of service codes that were added or changed by a reload. */
const PROMPT_GAP_MS = 100;

/** With a longer interval, readiness and data would wait for it, and each restart would leave a hole. */
const MAX_SPREAD_MS = 60_000;

/** Delays of the first two polls of a service code; the others follow at the interval. */
export interface FirstDelays {
  readonly firstMs: number;
  readonly secondMs: number;
}

/**
 * First polls are spread evenly over the interval, at most over a minute; the second ones over the interval,
 * each at least a minute (or the interval) after the first.
 */
export function computeFirstDelays(index: number, count: number, intervalMs: number): FirstDelays {
  const spread = (rangeMs: number): number => {
    const gapMs = rangeMs / count;
    const delayMs = index * gapMs;
    return gapMs < TICK_MS ? delayMs - (delayMs % TICK_MS) : delayMs;
  };
  const firstMs = spread(Math.min(intervalMs, MAX_SPREAD_MS));
  const placeMs = spread(intervalMs);
  return { firstMs, secondMs: placeMs - firstMs < MAX_SPREAD_MS ? placeMs + intervalMs : placeMs };
}

/** After a reload, first polls are soon, one after the other, within the interval and a minute. */
export function computeReloadDelays(index: number, count: number, intervalMs: number): FirstDelays {
  if (Math.min(intervalMs, MAX_SPREAD_MS) / count < PROMPT_GAP_MS)
    return computeFirstDelays(index, count, intervalMs);
  const firstMs = index * PROMPT_GAP_MS;
  return { firstMs, secondMs: firstMs + intervalMs };
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
