import type { TaskReading } from '../../listing/listing-sink.ts';
import type { Instant } from '../instant.ts';
import type { ServerSum, ServerSums } from './server-sums.ts';
import { hasFlag, setFlag, TaskFlag, type TaskAccount } from './task-account.ts';

/** A task of the listing under way whose bytes are accounted for. */
interface StallUpdate {
  readonly commit: { readonly at: Instant; readonly servers: ServerSums };
  readonly account: TaskAccount;
  readonly reading: TaskReading;
  readonly server: ServerSum;
}

/**
 * Updates whether a task is stalled, and the sums of its server. A live task is stalled if its input flowed once and has
 * not flowed for long; a file task if its progress is unchanged for long, whatever flows. The two share the time of the
 * last activity: a task is one or the other.
 */
export function updateStalls(
  { commit: { at, servers }, account, reading: { progress = 0 }, server }: StallUpdate,
  isFlowing: boolean,
  stallAfterMs: number,
): void {
  const isLive = progress === 0;
  if (progress !== account.progress || (isLive && isFlowing)) account.lastActivity = at;
  account.progress = progress;
  const hasFlowed = hasFlag(account, TaskFlag.hasFlowed);
  const isIdle = at.monotonicMs - account.lastActivity.monotonicMs >= stallAfterMs;
  const isStalled = isLive && hasFlowed && isIdle;
  const isOld = at.monotonicMs - account.firstSeen.monotonicMs >= stallAfterMs;
  const isWithoutInput = isLive && !hasFlowed && account.inputSource !== undefined && isOld;
  server.stalls.add(isStalled && !hasFlag(account, TaskFlag.isStalled) ? 1 : 0);
  setFlag(account, TaskFlag.isStalled, isStalled);
  if (isStalled) servers.noteStalled(account);
  if (isWithoutInput) servers.noteWithoutInput(account);
  server.stalled.add(isStalled ? 1 : 0);
  server.fileStalled.add(!isLive && isIdle ? 1 : 0);
  server.withoutInput.add(isWithoutInput ? 1 : 0);
  server.noteFirstSeen(account.firstSeen);
}
