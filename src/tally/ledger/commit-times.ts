import type { Instant } from '../../runtime/instant.ts';
import type { CommitTimes } from './account.ts';
import { REMEMBERED_MS } from './departed-accounts.ts';

/** The time between the process that wrote the accounts and this one. */
export type RestartGap = Pick<CommitTimes, 'restoredMs' | 'unknownGapMs'>;

/** Times of a listing after the one before, of which the accounts know. */
export function createCommitTimes(
  last: Instant | undefined,
  at: Instant,
  pollIntervalMs: number,
  gap: RestartGap,
): CommitTimes {
  return {
    nowMs: at.monotonicMs,
    pollIntervalMs,
    previousListingMs: last?.monotonicMs,
    suspendedMs: measureSuspendedMs(last, at, gap),
    ...gap,
  };
}

/** After a suspension, which stops the monotonic clock, the wall clock says that more time has passed. */
function measureSuspendedMs(last: Instant | undefined, at: Instant, gap: RestartGap): number {
  if (last === undefined || last.monotonicMs <= gap.restoredMs) return 0;
  const wallMs = at.wallMs - last.wallMs;
  return Math.max(0, Math.min(wallMs, REMEMBERED_MS) - (at.monotonicMs - last.monotonicMs));
}

/** Whether polls have failed for so long that one listing does not tell what is idle. */
export function hasGap(
  { nowMs, previousListingMs = nowMs, pollIntervalMs }: CommitTimes,
  stallAfterMs: number,
): boolean {
  return nowMs - previousListingMs > Math.max(stallAfterMs, 1.5 * pollIntervalMs);
}
