import { z } from 'zod';
import { addLevel, FALLS, isOneHourOld, levelsSchema, listFalls, lossSchema, MINUTE_MS } from './fall.ts';
import { NO_LEVELS, type Levels, type ListingTime } from './fall.ts';
import { endLoss } from './level-loss.ts';

/** After so long, tasks that restart too often to be silent have had time to receive data. */
const RESTARTING_MS = 2 * MINUTE_MS;

/** Live tasks by what they receive. */
export interface IngestCounts {
  readonly receiving: number;
  /** When each task that received data and is silent last received some, in monotonic milliseconds. */
  readonly silentSinceMs: readonly number[];
  /** Tasks that have started within `poll.stall_after` and have received nothing yet. */
  readonly starting: number;
}

/** Most live tasks have stopped to receive data. */
const ingestStopSchema = lossSchema.unwrap().extend({
  /** Tasks that have been silent for longer are no part of it, in monotonic milliseconds. */
  silentAfterMs: z.number(),
  /** Whether no task that starts can still decide otherwise. */
  isCertain: z.boolean(),
});
type IngestStop = Readonly<z.output<typeof ingestStopSchema>>;

export const ingestSchema = z
  .object({
    levels: levelsSchema.describe('of the receiving tasks'),
    stop: ingestStopSchema.readonly().optional(),
    unknownUntilMs: z.number().optional(),
  })
  .readonly();
export type IngestMemory = z.output<typeof ingestSchema>;

/** Takes what the tasks of a listing receive. */
export function followIngest(
  memory: IngestMemory,
  counts: IngestCounts,
  time: ListingTime,
  stallAfterMs: number,
): IngestMemory {
  const { receiving } = counts;
  const { stop } = memory;
  if (stop?.isCertain === true) return goesOn(stop, counts, time) ? memory : endLoss(receiving);
  const levels = addLevel(memory.levels, receiving, time);
  const fallen = listStops(memory.levels, receiving, time, stallAfterMs);
  // One from a smaller level goes on where some tasks of the larger one have ended.
  const suspected =
    stop === undefined ? fallen : [stop, ...fallen.map((other) => ({ ...other, since: stop.since }))];
  const found = suspected.find(
    ({ before, silentAfterMs }) =>
      receiving < before / 2 && 2 * (countSilent(counts, silentAfterMs) + counts.starting) > before,
  );
  if (found === undefined) return { levels, unknownUntilMs: memory.unknownUntilMs };
  // One listing without growth may be an older one that the service answers again.
  const hasTwoListings = stop !== undefined || time.atMs - (time.before?.atMs ?? -Infinity) < stallAfterMs;
  const isDecided = hasTwoListings && receiving + counts.starting < found.before / 2;
  if (isDecided || time.at.monotonicMs - found.since.monotonicMs >= RESTARTING_MS)
    return { levels: NO_LEVELS, stop: { ...found, isCertain: true } };
  return { levels, stop: found, unknownUntilMs: memory.unknownUntilMs };
}

function goesOn(stop: IngestStop, counts: IngestCounts, time: ListingTime): boolean {
  const { before, silentAfterMs } = stop;
  const silent = countSilent(counts, silentAfterMs);
  if (counts.receiving >= before / 2) return false;
  if (counts.receiving >= FALLS.receiving.leastOfHalf && silent === 0) return false;
  // The service may end the silent tasks: after an hour, nothing of the stop is left.
  return !isOneHourOld(stop, time) || 2 * (silent + counts.starting) > before;
}

function countSilent({ silentSinceMs }: IngestCounts, afterMs: number): number {
  return silentSinceMs.filter((ms) => ms >= afterMs).length;
}

/** A fall is a stop only if most of the tasks are still listed. */
function listStops(
  levels: Levels,
  receiving: number,
  time: ListingTime,
  stallAfterMs: number,
): readonly IngestStop[] {
  return listFalls(levels, receiving, time, FALLS.receiving).map(({ value, atMs }) => ({
    before: value,
    since: time.at,
    silentAfterMs: atMs - stallAfterMs,
    isCertain: false,
  }));
}
