import { addLevel, listFalls, MINUTE_MS, NO_LEVELS, type Levels, type ListingTime } from './fall.ts';
import { isAnHourOld, type Loss } from './level-loss.ts';

/** Tasks that restart so often that none is old enough to be silent have received nothing for so long. */
const RESTARTING_MS = 2 * MINUTE_MS;

const BOUNDS = { leastOfHalf: 4, leastOfAll: Infinity, endsOneByOne: true };

/** The live tasks of a listing by what they receive. */
export interface IngestCounts {
  /** Those whose input has flowed within `poll.stall_after`. */
  readonly fed: number;
  /** Those that began within `poll.stall_after` and have had no input yet. */
  readonly undecided: number;
  /** When the input of each other one last flowed, or when it began; not those that never flowed in sight. */
  readonly unfedSinceMs: readonly number[];
}

/** Most live tasks receive nothing. */
interface IngestStop extends Loss {
  /** Tasks that are silent since then, or newer, are part of it, in monotonic milliseconds. */
  readonly unfedAfterMs: number;
}

export interface IngestMemory {
  /** Of the fed tasks. */
  readonly levels: Levels;
  /** One that is not certain: tasks that have just begun may receive data soon. */
  readonly suspected?: IngestStop | undefined;
  readonly stop?: IngestStop | undefined;
}

export const NO_INGEST_MEMORY: IngestMemory = { levels: NO_LEVELS };

/** Takes what the tasks of a listing receive. */
export function followIngest(
  { levels, suspected, stop }: IngestMemory,
  { fed, undecided, unfedSinceMs }: IngestCounts,
  time: ListingTime,
  stallAfterMs: number,
): IngestMemory {
  const isMost = ({ unfedAfterMs, before }: IngestStop): boolean =>
    2 * unfedSinceMs.filter((ms) => ms >= unfedAfterMs).length > before;
  const next = addLevel(levels, fed, time);
  // The service may end the silent tasks: an hour later, nothing of the stop is left.
  if (stop !== undefined && fed < stop.before / 2 && (!isAnHourOld(stop, time) || isMost(stop)))
    return { levels: next, stop };
  const found = [suspected ?? [], listStops(levels, fed, time, stallAfterMs)].flat().find(isMost);
  if (found === undefined || fed >= found.before / 2) return { levels: next };
  // One listing without growth may be an old one that the service gives again.
  const isRepeated = suspected !== undefined || time.at.monotonicMs - time.beforeMs < stallAfterMs;
  const isCertain = isRepeated && fed + undecided < found.before / 2;
  const isLasting = time.at.monotonicMs - found.since.monotonicMs >= RESTARTING_MS;
  if (!isCertain && !isLasting) return { levels: next, suspected: found };
  return { levels: addLevel(NO_LEVELS, fed, time), stop: found };
}

/** A fall is a stop only if the tasks are still there. */
function listStops(
  levels: Levels,
  fed: number,
  time: ListingTime,
  stallAfterMs: number,
): readonly IngestStop[] {
  return listFalls(levels, fed, time, BOUNDS).map(({ value, atMs }) => ({
    before: value,
    since: time.at,
    unfedAfterMs: atMs - stallAfterMs,
  }));
}
