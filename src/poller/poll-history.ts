import type { SampleColumns } from '../metrics/catalogue/sample-columns.ts';
import type { Snapshot } from '../tally/snapshot.ts';
import { POLL_ERROR_REASONS, type PollErrorReason } from '../upstream/errors.ts';

/** Polls kept for each service code: 15 minutes at the default interval. */
export const HISTORY_CAPACITY = 60;

/** Totals of one good listing of a service code. */
export interface ListingTotals {
  readonly users: number;
  readonly tasks: number;
  readonly stalledTasks: number;
  readonly tasksWithoutInput: number;
  readonly tasksWithProgress: number;
  readonly connections: number;
  /** Sums of the byte counters since the exporter started. */
  readonly inputBytes: number;
  readonly outputBytes: number;
}

/** Adds up a snapshot over all its label sets. */
export function computeTotals({ users, tasks, listing, counters }: Snapshot): ListingTotals {
  const sum = ({ totals }: SampleColumns): number => totals.reduce((total, value) => total + value, 0);
  return {
    users,
    tasks,
    stalledTasks: sum(listing.tasksStalled),
    tasksWithoutInput: sum(listing.tasksWithoutInput),
    tasksWithProgress: sum(listing.tasksWithProgress),
    connections: sum(listing.httpConnections),
    inputBytes: sum(counters.inputBytes),
    outputBytes: sum(counters.httpOutputBytes),
  };
}

/** A poll that has ended. */
export interface CompletedPoll {
  /** When it ended, in monotonic milliseconds. */
  readonly atMs: number;
  readonly durationMs: number;
  /** Set if the poll failed. */
  readonly error?: PollErrorReason;
  /** The `ret` of an `api_error`, the HTTP status of an `http_status`. */
  readonly errorCode?: number | undefined;
  /** Set if the poll succeeded. */
  readonly totals?: ListingTotals;
}

/** Totals that the status page plots. Rates are in bytes per second and `undefined` until there are two listings. */
export interface PlottedTotals {
  readonly users: number;
  readonly tasks: number;
  readonly connections: number;
  readonly ingress: number | undefined;
  readonly egress: number | undefined;
}

/** One poll of the history. Numbers have the seven significant digits of single precision. */
export interface PollHistoryEntry {
  /** Time between the end of this poll and the end of the latest poll. */
  readonly beforeLatestMs: number;
  readonly durationMs: number;
  readonly error: PollErrorReason | undefined;
  readonly errorCode: number | undefined;
  /** `undefined` if the poll failed. */
  readonly totals: PlottedTotals | undefined;
}

/** Totals of the last good listing, in full precision. */
export interface LatestListing extends PlottedTotals {
  readonly stalledTasks: number;
  readonly tasksWithoutInput: number;
  readonly tasksWithProgress: number;
}

export type PollHistoryView = Pick<PollHistory, 'entries' | 'latestListing' | 'latestDurationMs'>;

/** Numbers of a poll: gap, duration, outcome, error code, users, tasks, connections, ingress, egress. NaN means unknown. */
const COLUMN_COUNT = 9;

/** Ring buffer of the last polls of one service code, in single precision: 2,160 bytes for 60 polls. */
export class PollHistory {
  readonly #ring = new Float32Array(HISTORY_CAPACITY * COLUMN_COUNT);
  /** Polls appended so far, overwritten ones included. */
  #pollCount = 0;
  #lastAtMs = 0;
  #latestDurationMs: number | undefined;
  #lastTotals: { atMs: number; inputBytes: number; outputBytes: number } | undefined;
  #latestListing: LatestListing | undefined;

  /** The last good listing; later polls may have failed. */
  get latestListing(): LatestListing | undefined {
    return this.#latestListing;
  }

  /** Duration of the last poll, successful or not. */
  get latestDurationMs(): number | undefined {
    return this.#latestDurationMs;
  }

  append({ atMs, durationMs, error, errorCode, totals }: CompletedPoll): void {
    const gapMs = this.#pollCount === 0 ? 0 : atMs - this.#lastAtMs;
    const outcome = error === undefined ? 0 : POLL_ERROR_REASONS.indexOf(error) + 1;
    const { users, tasks, connections, ingress, egress }: Partial<PlottedTotals> =
      totals === undefined ? {} : this.#updateLatestListing(totals, atMs);
    const row = [gapMs, durationMs, outcome, errorCode, users, tasks, connections, ingress, egress];
    const numbers = row.map((value) => value ?? Number.NaN);
    this.#ring.set(numbers, this.#findRow(this.#pollCount));
    this.#pollCount += 1;
    this.#lastAtMs = atMs;
    this.#latestDurationMs = durationMs;
  }

  /** Returns the kept polls, oldest first. */
  entries(): readonly PollHistoryEntry[] {
    const entries: PollHistoryEntry[] = [];
    const count = Math.min(this.#pollCount, HISTORY_CAPACITY);
    let beforeLatestMs = 0;
    for (let back = 1; back <= count; back += 1) {
      const row = this.#findRow(this.#pollCount - back);
      const [gapMs = 0, durationMs = 0, outcome = 0, errorCode = Number.NaN, ...totals] = this.#ring.subarray(
        row,
        row + COLUMN_COUNT,
      );
      entries.push({
        beforeLatestMs,
        durationMs,
        error: POLL_ERROR_REASONS[outcome - 1],
        errorCode: toOptional(errorCode),
        totals: parseTotals(totals),
      });
      beforeLatestMs += gapMs;
    }
    return entries.toReversed();
  }

  #updateLatestListing(totals: ListingTotals, atMs: number): LatestListing {
    const { inputBytes, outputBytes, ...counts } = totals;
    const last = this.#lastTotals;
    const elapsedMs = last === undefined ? 0 : atMs - last.atMs;
    const ingress = computeBytesPerSecond(inputBytes - (last?.inputBytes ?? 0), elapsedMs);
    const egress = computeBytesPerSecond(outputBytes - (last?.outputBytes ?? 0), elapsedMs);
    this.#lastTotals = { atMs, inputBytes, outputBytes };
    this.#latestListing = { ...counts, ingress, egress };
    return this.#latestListing;
  }

  #findRow(poll: number): number {
    return (poll % HISTORY_CAPACITY) * COLUMN_COUNT;
  }
}

function parseTotals(row: readonly number[]): PlottedTotals | undefined {
  const [users = Number.NaN, tasks = 0, connections = 0, ingress = Number.NaN, egress = Number.NaN] = row;
  return Number.isNaN(users)
    ? undefined
    : { users, tasks, connections, ingress: toOptional(ingress), egress: toOptional(egress) };
}

function toOptional(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}

/**
 * Returns `undefined` without elapsed time, and where the sum of counters decreased: that happens only when idle label
 * sets were evicted.
 */
function computeBytesPerSecond(bytes: number, elapsedMs: number): number | undefined {
  return bytes < 0 || elapsedMs <= 0 ? undefined : (bytes * 1000) / elapsedMs;
}
