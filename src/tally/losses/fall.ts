import { z } from 'zod';
import { instantSchema, type Instant } from '../../runtime/instant.ts';

export const MINUTE_MS = 60_000;
/** A loss is a fall within so long. */
const WINDOW_MS = 10 * MINUTE_MS;
/** How long a loss lasts at most; a longer gap between two listings leaves nothing to compare with. */
export const LONGEST_LOSS_MS = 60 * MINUTE_MS;

/** Streams that end one by one, so many a minute and at most so many a listing, are no part of a fall. */
const SINGLE_ENDS = 2;

/** What is lost, and goes on. */
export const lossSchema = z
  .object({
    /** How many there were. */
    before: z.number(),
    /** The first listing that shows it. */
    since: instantSchema,
  })
  .readonly();
export type Loss = z.output<typeof lossSchema>;

/** A listing as falls see it; times are monotonic, in milliseconds. */
export const listingTimeSchema = z
  .object({
    at: instantSchema,
    /** Since the listing before. */
    stepMs: z.number(),
    /** Time of all listings: at most a poll interval between two, so that an outage is one step. */
    seenMs: z.number(),
    /** How many streams can have ended one by one, in all listings. */
    singleEnds: z.number(),
    /** The tasks of the code. */
    tasks: z.number(),
  })
  .readonly();
export type ListingTime = z.output<typeof listingTimeSchema>;

export function advance(
  before: ListingTime | undefined,
  at: Instant,
  tasks: number,
  pollIntervalMs: number,
): ListingTime {
  if (before === undefined) return { at, stepMs: 0, seenMs: 0, singleEnds: 0, tasks };
  const stepMs = at.monotonicMs - before.at.monotonicMs;
  const seenStepMs = Math.min(stepMs, pollIntervalMs, WINDOW_MS);
  return {
    at,
    stepMs,
    seenMs: before.seenMs + seenStepMs,
    singleEnds: before.singleEnds + SINGLE_ENDS * Math.min(1, seenStepMs / MINUTE_MS),
    tasks,
  };
}

/** A number that two listings in a row had at least, as of the second one. */
const levelSchema = z
  .object({
    value: z.number(),
    atMs: z.number(),
    seenMs: z.number(),
    singleEnds: z.number(),
    /** Tasks of the code. */
    tasks: z.number(),
  })
  .readonly();
type Level = z.output<typeof levelSchema>;

/** The numbers of listings that a fall is measured from: each level is larger than all later ones. */
export const levelsSchema = z
  .object({ kept: z.array(levelSchema).readonly(), last: z.number().optional() })
  .readonly();
export type Levels = z.output<typeof levelsSchema>;

export const NO_LEVELS: Levels = { kept: [] };

/** What counts as a fall. */
interface FallBounds {
  /** Below half of at least so many. */
  readonly leastOfHalf: number;
  /** To 0 from at least so many. */
  readonly leastOfAll: number;
  /** Whether the numbers are of streams, which also end one by one. */
  readonly endsOneByOne: boolean;
}

export const FALLS = {
  tasks: { leastOfHalf: 10, leastOfAll: 1, endsOneByOne: true },
  users: { leastOfHalf: 20, leastOfAll: Infinity, endsOneByOne: false },
  // A task that is listed has not ended.
  receiving: { leastOfHalf: 4, leastOfAll: Infinity, endsOneByOne: false },
  ofServer: { leastOfHalf: Infinity, leastOfAll: 2, endsOneByOne: true },
} as const satisfies Readonly<Record<string, FallBounds>>;

/** Adds the number of a listing. */
export function addLevel({ kept, last }: Levels, value: number, time: ListingTime): Levels {
  if (last === undefined) return { kept, last: value };
  const held = Math.min(value, last);
  const { at, seenMs, singleEnds, tasks } = time;
  const larger = kept.filter((level) => level.value > held && seenMs - level.seenMs <= WINDOW_MS);
  // The latest level is always kept, earlier ones at most one a minute: a window has a dozen.
  const isCrowded = (larger.at(-1)?.seenMs ?? 0) - (larger.at(-2)?.seenMs ?? -Infinity) < MINUTE_MS;
  const earlier = isCrowded ? larger.slice(0, -1) : larger;
  return {
    kept: [...earlier, { value: held, atMs: at.monotonicMs, seenMs, singleEnds, tasks }],
    last: value,
  };
}

/** Lists the levels from which a number has fallen, the largest first. */
export function listFalls(
  { kept }: Levels,
  value: number,
  { seenMs, singleEnds }: ListingTime,
  { leastOfHalf, leastOfAll, endsOneByOne }: FallBounds,
): readonly Level[] {
  return kept.filter((level, index) => {
    if (seenMs - level.seenMs > WINDOW_MS) return false;
    // What is gone from one listing to the next is gone at once.
    const isOfListingBefore = index === kept.length - 1;
    const ends = endsOneByOne && !isOfListingBefore ? singleEnds - level.singleEnds : 0;
    const isHalved = level.value >= leastOfHalf && value + ends < level.value / 2;
    return isHalved || (value === 0 && level.value >= leastOfAll && level.value > ends);
  });
}

/** Whether a loss has lasted as long as one can. */
export function isOneHourOld({ since }: Loss, { at }: ListingTime): boolean {
  return at.monotonicMs - since.monotonicMs > LONGEST_LOSS_MS;
}
