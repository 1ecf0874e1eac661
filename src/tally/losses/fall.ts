import type { Instant } from '../../runtime/instant.ts';

export const MINUTE_MS = 60_000;
/** A loss is a fall within so long. */
export const WINDOW_MS = 10 * MINUTE_MS;
/** How long a loss lasts at most; levels that are older are forgotten. */
export const LONGEST_LOSS_MS = 60 * MINUTE_MS;

/** Streams that end one by one: so many a minute, and a listing at most, are no part of a fall. */
const SINGLE_ENDS = 2;

/** The time of a listing, as falls see it: an outage is one step, however long it lasts. */
export interface ListingTime {
  readonly at: Instant;
  /** When the listing before was taken, in monotonic milliseconds. */
  readonly beforeMs: number;
  /** Time that listings have seen pass: at most a poll interval between two. */
  readonly seenMs: number;
  /** How many streams can have ended one by one, in all listings. */
  readonly singleEnds: number;
  /** The same before this listing: what is lost from one listing to the next is lost at once. */
  readonly singleEndsBefore: number;
}

export function advance(before: ListingTime | undefined, at: Instant, pollIntervalMs: number): ListingTime {
  if (before === undefined)
    return { at, beforeMs: at.monotonicMs, seenMs: 0, singleEnds: 0, singleEndsBefore: 0 };
  const stepMs = Math.min(at.monotonicMs - before.at.monotonicMs, pollIntervalMs, WINDOW_MS);
  return {
    at,
    beforeMs: before.at.monotonicMs,
    seenMs: before.seenMs + stepMs,
    singleEnds: before.singleEnds + SINGLE_ENDS * Math.min(1, stepMs / MINUTE_MS),
    singleEndsBefore: before.singleEnds,
  };
}

/** A number that two listings in a row had at least. */
export interface Level extends Pick<ListingTime, 'seenMs' | 'singleEnds'> {
  readonly value: number;
  readonly atMs: number;
}

/** The numbers of listings from which a fall is told: each is larger than all later ones. */
export interface Levels {
  readonly kept: readonly Level[];
  readonly last?: number | undefined;
}

export const NO_LEVELS: Levels = { kept: [] };

/** What counts as a fall. */
export interface FallBounds {
  /** Below half of at least so many. */
  readonly leastOfHalf: number;
  /** To 0 from at least so many. */
  readonly leastOfAll: number;
  readonly endsOneByOne: boolean;
}

/** Adds the number of a listing. */
export function addLevel({ kept, last }: Levels, value: number, time: ListingTime): Levels {
  // A listing that has everything twice is no level.
  const held = Math.min(value, last ?? value);
  const { at, seenMs, singleEnds } = time;
  const isKept = (level: Level): boolean =>
    level.value > held &&
    seenMs - level.seenMs <= WINDOW_MS &&
    at.monotonicMs - level.atMs <= LONGEST_LOSS_MS;
  return {
    kept: [...kept.filter(isKept), { value: held, atMs: at.monotonicMs, seenMs, singleEnds }],
    last: value,
  };
}

/** Lists the levels from which a number has fallen, the largest first. */
export function listFalls(
  { kept }: Levels,
  value: number,
  { at, seenMs, singleEnds, singleEndsBefore }: ListingTime,
  { leastOfHalf, leastOfAll, endsOneByOne }: FallBounds,
): readonly Level[] {
  return kept.filter((level) => {
    if (seenMs - level.seenMs > WINDOW_MS || at.monotonicMs - level.atMs > LONGEST_LOSS_MS) return false;
    const isOneStep = level.singleEnds === singleEndsBefore;
    const ownEnds = endsOneByOne && !isOneStep ? singleEnds - level.singleEnds : 0;
    const isHalved = level.value >= leastOfHalf && value + ownEnds < level.value / 2;
    return isHalved || (value === 0 && level.value >= leastOfAll && level.value > ownEnds);
  });
}
