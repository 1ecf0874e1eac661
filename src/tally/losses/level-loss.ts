import type { Instant } from '../../runtime/instant.ts';
import {
  addLevel,
  listFalls,
  LONGEST_LOSS_MS,
  NO_LEVELS,
  type FallBounds,
  type Levels,
  type ListingTime,
} from './fall.ts';

/** Something that is lost. */
export interface Loss {
  /** How many there were. */
  readonly before: number;
  /** The first listing that shows it. */
  readonly since: Instant;
}

/** What is remembered of a number of each listing, and the loss that goes on. */
export interface LevelMemory {
  readonly levels: Levels;
  readonly loss?: Loss | undefined;
}

export const NO_LEVEL_MEMORY: LevelMemory = { levels: NO_LEVELS };

export function isAnHourOld({ since }: Loss, { at }: ListingTime): boolean {
  return at.monotonicMs - since.monotonicMs > LONGEST_LOSS_MS;
}

/** Takes the number of a listing. A loss is over when half is back once; then only a new fall is another. */
export function followLevel(
  { levels, loss }: LevelMemory,
  value: number,
  time: ListingTime,
  bounds: FallBounds,
): LevelMemory {
  const next = addLevel(levels, value, time);
  if (loss !== undefined && value < loss.before / 2 && !isAnHourOld(loss, time))
    return { levels: next, loss };
  const [fall] = listFalls(levels, value, time, bounds);
  if (fall === undefined) return { levels: next };
  return { levels: addLevel(NO_LEVELS, value, time), loss: { before: fall.value, since: time.at } };
}
