import { POLL_ERROR_REASONS, type PollErrorReason } from '../upstream/errors.ts';
import type { ListingFigures } from './figures.ts';

/** So many polls of a service code are remembered: a quarter of an hour at the default interval. */
export const REMEMBERED_POLLS = 60;

/** Where the columns of a poll stand in its row. */
const COLUMN = {
  gapMs: 0,
  durationMs: 1,
  outcome: 2,
  users: 3,
  tasks: 4,
  connections: 5,
  ingress: 6,
  egress: 7,
} as const;
const WIDTH = 8;

/** A poll that is over. */
export interface EndedPoll {
  /** When, in monotonic milliseconds. */
  readonly atMs: number;
  readonly durationMs: number;
  /** Why it failed; `undefined` if it did not. */
  readonly error?: PollErrorReason;
  /** What its listing says, if it is a good one. */
  readonly figures?: ListingFigures;
}

/** The figures that are plotted; the rates, in bytes per second, are unknown until there are two listings. */
export interface PlottedFigures {
  readonly users: number;
  readonly tasks: number;
  readonly connections: number;
  readonly ingress: number | undefined;
  readonly egress: number | undefined;
}

/** One poll as it is remembered; figures are rounded to the seven digits of a single. */
export interface PollPoint {
  /** How long before the latest poll it ended. */
  readonly beforeLatestMs: number;
  readonly durationMs: number;
  readonly error: PollErrorReason | undefined;
  /** `undefined` for a poll that failed: what is not known is no zero. */
  readonly figures: PlottedFigures | undefined;
}

/** The last good listing as far as a history knows it, exact. */
export interface LatestListing extends PlottedFigures {
  readonly stalledTasks: number;
}

/** What may be asked of a history. */
export type PollHistoryView = Pick<PollHistory, 'points' | 'latestListing' | 'latestDurationMs'>;

/**
 * The last polls of one service code, in a ring of single-precision numbers: 32 bytes a poll, 1,920 bytes for all,
 * and some 500 for the objects around them.
 */
export class PollHistory {
  readonly #ring = new Float32Array(REMEMBERED_POLLS * WIDTH);
  /** Polls ever noted. */
  #noted = 0;
  #lastAtMs = 0;
  #latestDurationMs: number | undefined;
  #lastTotals: { atMs: number; inputBytes: number; outputBytes: number } | undefined;
  #latestListing: LatestListing | undefined;

  /** The last good listing; polls may have failed since. */
  get latestListing(): LatestListing | undefined {
    return this.#latestListing;
  }

  /** How long the last poll took, however it went. */
  get latestDurationMs(): number | undefined {
    return this.#latestDurationMs;
  }

  note({ atMs, durationMs, error, figures }: EndedPoll): void {
    const at = this.#noted % REMEMBERED_POLLS;
    this.#set(at, 'gapMs', this.#noted === 0 ? 0 : atMs - this.#lastAtMs);
    this.#set(at, 'durationMs', durationMs);
    this.#set(at, 'outcome', error === undefined ? 0 : POLL_ERROR_REASONS.indexOf(error) + 1);
    const plotted = figures === undefined ? undefined : this.#take(figures, atMs);
    this.#set(at, 'users', plotted?.users);
    this.#set(at, 'tasks', plotted?.tasks);
    this.#set(at, 'connections', plotted?.connections);
    this.#set(at, 'ingress', plotted?.ingress);
    this.#set(at, 'egress', plotted?.egress);
    this.#noted += 1;
    this.#lastAtMs = atMs;
    this.#latestDurationMs = durationMs;
  }

  /** What is remembered, the oldest first. */
  points(): readonly PollPoint[] {
    const count = Math.min(this.#noted, REMEMBERED_POLLS);
    const points: PollPoint[] = [];
    let beforeLatestMs = 0;
    for (let back = 1; back <= count; back += 1) {
      const at = (this.#noted - back) % REMEMBERED_POLLS;
      points.push(this.#point(at, beforeLatestMs));
      beforeLatestMs += this.#get(at, 'gapMs') ?? 0;
    }
    return points.toReversed();
  }

  #take(figures: ListingFigures, atMs: number): PlottedFigures {
    const { users, tasks, connections, stalledTasks, inputBytes, outputBytes } = figures;
    const before = this.#lastTotals;
    const rate = (bytes: number, bytesBefore: number | undefined): number | undefined =>
      before === undefined || bytesBefore === undefined
        ? undefined
        : rateOf(bytes - bytesBefore, atMs - before.atMs);
    const ingress = rate(inputBytes, before?.inputBytes);
    const egress = rate(outputBytes, before?.outputBytes);
    this.#lastTotals = { atMs, inputBytes, outputBytes };
    this.#latestListing = { users, tasks, connections, stalledTasks, ingress, egress };
    return this.#latestListing;
  }

  #point(at: number, beforeLatestMs: number): PollPoint {
    const users = this.#get(at, 'users');
    const tasks = this.#get(at, 'tasks');
    const connections = this.#get(at, 'connections');
    const isGood = users !== undefined && tasks !== undefined && connections !== undefined;
    return {
      beforeLatestMs,
      durationMs: this.#get(at, 'durationMs') ?? 0,
      error: POLL_ERROR_REASONS[(this.#get(at, 'outcome') ?? 0) - 1],
      figures: isGood
        ? { users, tasks, connections, ingress: this.#get(at, 'ingress'), egress: this.#get(at, 'egress') }
        : undefined,
    };
  }

  /** What is unknown is kept as NaN. */
  #set(at: number, column: keyof typeof COLUMN, value: number | undefined): void {
    this.#ring[at * WIDTH + COLUMN[column]] = value ?? Number.NaN;
  }

  #get(at: number, column: keyof typeof COLUMN): number | undefined {
    const value = this.#ring[at * WIDTH + COLUMN[column]];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }
}

/**
 * Bytes per second. A sum of counters shrinks only where idle label sets gave way to new ones, and between two
 * listings of the same moment nothing can be told: both leave the rate unknown.
 */
function rateOf(bytes: number, durationMs: number): number | undefined {
  return bytes < 0 || durationMs <= 0 ? undefined : (bytes * 1000) / durationMs;
}
