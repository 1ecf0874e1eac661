import { addLevel, NO_LEVELS, type Levels, type ListingTime } from './fall.ts';
import { isAnHourOld, type Loss } from './level-loss.ts';

/** A server with fewer tasks in its last listing was being drained, or is small. */
const LEAST_TASKS = 2;

export interface ServerMemory {
  readonly levels: Levels;
  readonly loss?: Loss | undefined;
}

/** By `vs_id`. */
export interface ServersMemory {
  readonly servers: ReadonlyMap<string, ServerMemory>;
  /** Tasks of all servers in the last listing. */
  readonly total: number;
}

export const NO_SERVERS_MEMORY: ServersMemory = { servers: new Map(), total: 0 };

/** Takes the tasks of each server in a listing. A server without any is remembered while it is lost. */
export function followServers(
  { servers, total: totalBefore }: ServersMemory,
  tasks: ReadonlyMap<string, number>,
  total: number,
  time: ListingTime,
): ServersMemory {
  const next = new Map<string, ServerMemory>();
  for (const [vsId, memory] of servers) {
    if ((tasks.get(vsId) ?? 0) > 0) continue;
    const loss = memory.loss ?? findServerLoss(memory.levels, totalBefore, total, time);
    if (loss !== undefined && !isAnHourOld(loss, time)) next.set(vsId, { levels: NO_LEVELS, loss });
  }
  for (const [vsId, count] of tasks)
    if (count > 0) next.set(vsId, { levels: addLevel(servers.get(vsId)?.levels ?? NO_LEVELS, count, time) });
  return { servers: next, total };
}

/**
 * A server has left with several tasks, and the code has lost half of what the server ran within ten minutes
 * with it: others did not take them over, and it was not drained. At the end of an event no task is left.
 */
function findServerLoss(
  { kept, last = 0 }: Levels,
  totalBefore: number,
  total: number,
  { at }: ListingTime,
): Loss | undefined {
  const most = Math.max(last, kept[0]?.value ?? 0);
  const isLoss = last >= LEAST_TASKS && total > 0 && 2 * (totalBefore - total) >= most;
  return isLoss ? { before: last, since: at } : undefined;
}
