import type { ClockDifference } from './observation.ts';

/** A `Date` header has whole seconds: the time that it was written at lies within the second that it names. */
const DATE_STEP_MS = 1000;

/**
 * How far this machine's clock is ahead of another one's, from the `Date` of its answer, which was written at
 * some moment between request and answer. Times are wall-clock milliseconds of this machine.
 */
export function clockDifference(
  date: string | undefined,
  askedMs: number,
  answeredMs: number,
): ClockDifference | undefined {
  const theirsMs = Date.parse(date ?? '');
  if (Number.isNaN(theirsMs)) return undefined;
  return {
    aheadMs: (askedMs + answeredMs) / 2 - (theirsMs + DATE_STEP_MS / 2),
    uncertaintyMs: (answeredMs - askedMs + DATE_STEP_MS) / 2,
  };
}

/** What is certain of a difference: how far the clocks are apart at least. */
export function apartAtLeastMs({ aheadMs, uncertaintyMs }: ClockDifference): number {
  return Math.max(0, Math.abs(aheadMs) - uncertaintyMs);
}
