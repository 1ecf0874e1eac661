import { z } from 'zod';
import { addLevel, FALLS, isOneHourOld, levelsSchema, listFalls, lossSchema, MINUTE_MS } from './fall.ts';
import { NO_LEVELS, type ListingTime } from './fall.ts';

/** So long, and so many listings, other servers have to take over the tasks of one that has left. */
const TAKEOVER_MS = 2 * MINUTE_MS;
const TAKEOVER_LISTINGS = 2;

const serverLossSchema = lossSchema.unwrap().extend({
  /** Tasks of the code in its last listing with the whole server. */
  tasks: z.number(),
  /** Listings since the first one without the server. */
  listings: z.number(),
  isCertain: z.boolean(),
});
type ServerLoss = Readonly<z.output<typeof serverLossSchema>>;

/** What is remembered of a server: the levels of its tasks, or, without any, what left with it. */
export const serverSchema = z
  .object({ vsId: z.string(), levels: levelsSchema, loss: serverLossSchema.readonly().optional() })
  .readonly();
export type ServerMemory = z.output<typeof serverSchema>;

/** Takes the tasks of each server in a listing. A server without any is remembered while it is lost. */
export function followServers(
  before: readonly ServerMemory[],
  tasks: ReadonlyMap<string, number>,
  time: ListingTime,
): readonly ServerMemory[] {
  const known = new Map(before.map((server) => [server.vsId, server]));
  const listed = [...tasks].map(([vsId, count]): ServerMemory => {
    const server = known.get(vsId);
    const levels = addLevel(server?.levels ?? NO_LEVELS, count, time);
    return server?.levels === levels ? server : { vsId, levels };
  });
  const lost = before.flatMap((server): readonly ServerMemory[] => {
    const loss = tasks.has(server.vsId) ? undefined : followLoss(server, time);
    return loss === undefined ? [] : [{ vsId: server.vsId, levels: NO_LEVELS, loss }];
  });
  return [...listed, ...lost];
}

/** A server has left with its tasks, and others have not taken over half of them. */
function followLoss({ levels, loss }: ServerMemory, time: ListingTime): ServerLoss | undefined {
  const [fall] = listFalls(levels, 0, time, FALLS.ofServer);
  const begun = fall && { before: fall.value, since: time.at, tasks: fall.tasks, listings: 0 };
  const current = loss === undefined ? begun : { ...loss, listings: loss.listings + 1 };
  if (current === undefined || isOneHourOld(current, time)) return undefined;
  // Where no task is left, the code has lost them all, or an event has ended.
  const areGone = time.tasks > 0 && 2 * (current.tasks - time.tasks) >= current.before;
  if (!areGone) return undefined;
  const isCertain =
    current.listings >= TAKEOVER_LISTINGS && time.at.monotonicMs - current.since.monotonicMs >= TAKEOVER_MS;
  return { ...current, isCertain };
}
