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

/** What a level remembers of the last listing that had it; times are monotonic, in milliseconds. */
const momentSchema = z.object({
  atMs: z.number(),
  /** Time of all listings: at most a poll interval between two, so that an outage is one step. */
  seenMs: z.number(),
  /** How many streams can have ended one by one, in all listings. */
  singleEnds: z.number(),
  /** The tasks of the code. */
  tasks: z.number(),
});

/** A listing as falls see it. */
export const listingTimeSchema = momentSchema
  .extend({ at: instantSchema, before: momentSchema.readonly().optional() })
  .readonly();
export type ListingTime = z.output<typeof listingTimeSchema>;

export function advance(
  last: ListingTime | undefined,
  at: Instant,
  tasks: number,
  pollIntervalMs: number,
): ListingTime {
  const { monotonicMs: atMs } = at;
  if (last === undefined) return { at, atMs, seenMs: 0, singleEnds: 0, tasks };
  const before = { atMs: last.atMs, seenMs: last.seenMs, singleEnds: last.singleEnds, tasks: last.tasks };
  const stepMs = Math.min(atMs - before.atMs, pollIntervalMs, WINDOW_MS);
  const singleEnds = before.singleEnds + SINGLE_ENDS * Math.min(1, stepMs / MINUTE_MS);
  return { at, atMs, seenMs: before.seenMs + stepMs, singleEnds, tasks, before };
}

const levelSchema = momentSchema.extend({ value: z.number() }).readonly();
type Level = z.output<typeof levelSchema>;

/** What a fall is measured from. A level is a number that two listings in a row had at least. */
export const levelsSchema = z
  .object({
    /** Earlier levels, each larger than all later ones. */
    larger: z.array(levelSchema).readonly(),
    /** The level of the last listing. */
    held: z.number().optional(),
    /** Its number. */
    last: z.number().optional(),
  })
  .readonly();
export type Levels = z.output<typeof levelsSchema>;

export const NO_LEVELS: Levels = { larger: [] };

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
export function addLevel(levels: Levels, value: number, { seenMs, before }: ListingTime): Levels {
  const { larger, held: heldBefore, last } = levels;
  const held = last === undefined ? undefined : Math.min(value, last);
  if (value === last && held === heldBefore && larger.length === 0) return levels;
  const recent = larger.filter((level) => level.value > (held ?? 0) && seenMs - level.seenMs <= WINDOW_MS);
  if (before === undefined || held === undefined || heldBefore === undefined || heldBefore <= held)
    return { larger: recent, held, last: value };
  // One level a minute is enough: a window has a dozen.
  const isCrowded = before.seenMs - (recent.at(-1)?.seenMs ?? -Infinity) < MINUTE_MS;
  return {
    larger: isCrowded ? recent : [...recent, { ...before, value: heldBefore }],
    held,
    last: value,
  };
}

/** Lists the levels from which a number has fallen, the largest first. */
export function listFalls(
  { larger, held }: Levels,
  value: number,
  { seenMs, singleEnds, before }: ListingTime,
  { leastOfHalf, leastOfAll, endsOneByOne }: FallBounds,
): readonly Level[] {
  const isFall = (level: number, ends: number): boolean =>
    (level >= leastOfHalf && value + ends < level / 2) ||
    (value === 0 && level >= leastOfAll && level > ends);
  const falls = larger.filter(
    (level) =>
      seenMs - level.seenMs <= WINDOW_MS &&
      isFall(level.value, endsOneByOne ? singleEnds - level.singleEnds : 0),
  );
  if (held === undefined || before === undefined || seenMs - before.seenMs > WINDOW_MS) return falls;
  // What is gone from one listing to the next is gone at once.
  return isFall(held, 0) ? [...falls, { ...before, value: held }] : falls;
}

/** Whether a loss has lasted as long as one can. */
export function isOneHourOld({ since }: Loss, { at }: ListingTime): boolean {
  return at.monotonicMs - since.monotonicMs > LONGEST_LOSS_MS;
}
