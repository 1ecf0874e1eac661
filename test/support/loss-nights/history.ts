import type { LossNight } from './script.ts';
import type { Memory, ToldListing } from './run.ts';

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
/** `poll.stall_after`. */
export const STALL_SECONDS = MINUTE;

/** Losses are falls within ten minutes. */
const WINDOW_SECONDS = 10 * MINUTE;
/** Streams that end one by one: two a minute, and two a listing at most. */
const SINGLE_ENDS = 2;

/** What a clause of METRICS.md says of a number, where it leaves room: at least, and at most. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** A number that two listings in a row had; `index` is the second of them. */
export interface Level extends Bounds {
  readonly index: number;
}

/** The good listings of a memory, and the time that they have seen pass. */
export class History {
  readonly night: LossNight;
  readonly listings: Memory;
  readonly #seenSeconds: readonly number[];

  constructor(night: LossNight, listings: Memory) {
    this.night = night;
    this.listings = listings;
    let seen = 0;
    // At most a poll interval passes between two: an outage is one step.
    this.#seenSeconds = listings.map(
      (_, index) => (seen += Math.min(night.intervalSeconds, this.step(index))),
    );
  }

  at(index: number): ToldListing {
    const listing = this.listings[index];
    if (listing === undefined) throw new RangeError(`Expected listing ${index} of ${this.listings.length}`);
    return listing;
  }

  second(index: number): number {
    return this.at(index).second;
  }

  /** Seconds since the listing before. */
  step(index: number): number {
    return index === 0 ? 0 : this.second(index) - this.second(index - 1);
  }

  /** Whether no good listing came for longer than `stall_after`, because polls failed. */
  isAfterGap(index: number): boolean {
    return this.step(index) > Math.max(STALL_SECONDS, 1.5 * this.night.intervalSeconds);
  }

  readonly seconds = (from: number, to: number): number => this.second(to) - this.second(from);

  readonly seenSeconds = (from: number, to: number): number =>
    (this.#seenSeconds[to] ?? 0) - (this.#seenSeconds[from] ?? 0);

  /** The levels within ten minutes before a listing, of which both listings are at or after another. */
  listLevels(numbers: readonly Bounds[], index: number, since: number): readonly Level[] {
    const levels: Level[] = [];
    for (let at = index - 1; at > since && this.seenSeconds(at, index) <= WINDOW_SECONDS; at -= 1) {
      const [before, now] = [numbers[at - 1], numbers[at]];
      if (before === undefined || now === undefined || this.seconds(at, index) > HOUR) break;
      const [least, most] = [Math.min(before.least, now.least), Math.min(before.most, now.most)];
      levels.push({ index: at, least, most });
    }
    return levels;
  }

  /**
   * How many streams have ended one by one from one listing to another: at most two a minute, at least those
   * that ended in ones and twos. What is gone from one listing to the next is gone at once.
   */
  countSingleEnds(counts: readonly Bounds[], from: number, to: number): Bounds {
    let [most, listed] = [0, 0];
    if (to - from === 1) return { least: 0, most: 0 };
    for (let index = from + 1; index <= to; index += 1) {
      most += SINGLE_ENDS * Math.min(1, this.seenSeconds(index - 1, index) / MINUTE);
      const ended = (counts[index - 1]?.least ?? 0) - (counts[index]?.least ?? 0);
      if (ended > 0 && ended <= SINGLE_ENDS) listed += ended;
    }
    return { least: Math.min(most, listed), most };
  }
}
