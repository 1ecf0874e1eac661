import type { SampleColumns } from '../metrics/catalogue/sample-columns.ts';
import type { Snapshot } from '../tally/snapshot.ts';
import { POLL_ERROR_REASONS, type PollErrorReason } from '../upstream/errors.ts';

/** Polls kept for each service code: 15 minutes at the default interval. */
export const HISTORY_CAPACITY = 60;

/** Totals of one good listing of a service code; the bytes are sums of the counters since the exporter started. */
export type ListingTotals = ReturnType<typeof computeTotals>;

/** Adds up a snapshot over all its label sets. */
export function computeTotals({ users, tasks, listing, counters }: Snapshot) {
  const sum = ({ values }: SampleColumns): number => values.reduce((total, value) => total + value, 0);
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

/** Totals of the last good listing, in full precision. */
export interface LatestListing extends Omit<ListingTotals, 'inputBytes' | 'outputBytes'> {
  /** Bytes per second since the listing before; `undefined` for the first one. */
  readonly ingress: number | undefined;
  readonly egress: number | undefined;
}

/** Totals that the status page plots. */
export type PlottedTotals = Pick<LatestListing, 'users' | 'tasks' | 'connections' | 'ingress' | 'egress'>;

interface PollOutcome {
  readonly durationMs: number;
  /** Set if the poll failed. */
  readonly error?: PollErrorReason | undefined;
  /** The `ret` of an `api_error`, the HTTP status of an `http_status`. */
  readonly errorCode?: number | undefined;
}

/** A poll that ended at `atMs`, in monotonic milliseconds; with totals if it succeeded. */
export interface CompletedPoll extends PollOutcome {
  readonly atMs: number;
  readonly totals?: ListingTotals;
}

/** One poll of the history. Numbers have the seven significant digits of single precision. */
export interface PollHistoryEntry extends PollOutcome {
  /** Time between the end of this poll and the end of the latest poll. */
  readonly beforeLatestMs: number;
  /** `undefined` if the poll failed. */
  readonly totals: PlottedTotals | undefined;
}

/** Numbers of a poll: gap, duration, outcome, error code, users, tasks, connections, ingress, egress. NaN means unknown. */
const COLUMN_COUNT = 9;

/** The last polls of one service code, in single precision: 2,160 bytes for 60 polls. */
export class PollHistory {
  /** A row for each poll, the latest last. */
  readonly #rows = new Float32Array(HISTORY_CAPACITY * COLUMN_COUNT);
  #count = 0;
  #latestPoll: CompletedPoll | undefined;
  #latestListing: (LatestListing & ListingTotals & { readonly atMs: number }) | undefined;

  /** The last good listing; later polls may have failed. */
  get latestListing(): LatestListing | undefined {
    return this.#latestListing;
  }

  /** Duration of the last poll, successful or not. */
  get latestDurationMs(): number | undefined {
    return this.#latestPoll?.durationMs;
  }

  append(poll: CompletedPoll): void {
    const { atMs, durationMs, error, errorCode, totals } = poll;
    if (totals !== undefined) this.#latestListing = { ...totals, ...this.#computeRates(totals, atMs), atMs };
    const plotted: Partial<PlottedTotals> = (totals && this.#latestListing) ?? {};
    const { users, tasks, connections, ingress, egress } = plotted;
    const gapMs = atMs - (this.#latestPoll?.atMs ?? atMs);
    const outcome = error === undefined ? 0 : POLL_ERROR_REASONS.indexOf(error) + 1;
    const row = [gapMs, durationMs, outcome, errorCode, users, tasks, connections, ingress, egress];
    this.#rows.copyWithin(0, COLUMN_COUNT);
    this.#rows.set(
      row.map((value) => value ?? Number.NaN),
      this.#rows.length - COLUMN_COUNT,
    );
    this.#count = Math.min(this.#count + 1, HISTORY_CAPACITY);
    this.#latestPoll = poll;
  }

  /** Returns the kept polls, oldest first. */
  entries(): readonly PollHistoryEntry[] {
    let beforeLatestMs = 0;
    const latestFirst = Array.from({ length: this.#count }, (_, age) => {
      const offset = this.#rows.length - (age + 1) * COLUMN_COUNT;
      const row = [...this.#rows.subarray(offset, offset + COLUMN_COUNT)];
      const [gapMs = 0, durationMs = 0, outcome = 0, ...rest] = row;
      const [errorCode, users, tasks = 0, connections = 0, ingress, egress] = rest.map(toOptional);
      const totals = users === undefined ? undefined : { users, tasks, connections, ingress, egress };
      const entry = { beforeLatestMs, durationMs, error: POLL_ERROR_REASONS[outcome - 1], errorCode, totals };
      beforeLatestMs += gapMs;
      return entry;
    });
    return latestFirst.toReversed();
  }

  /**
   * Computes rates since the last listing. A rate is `undefined` without elapsed time, and where the sum of counters
   * decreased: that happens only when idle label sets were evicted.
   */
  #computeRates({ inputBytes, outputBytes }: ListingTotals, atMs: number) {
    const last = this.#latestListing;
    const elapsedMs = atMs - (last?.atMs ?? atMs);
    const computeRate = (bytes: number, lastBytes = 0): number | undefined =>
      bytes < lastBytes || elapsedMs <= 0 ? undefined : ((bytes - lastBytes) * 1000) / elapsedMs;
    return {
      ingress: computeRate(inputBytes, last?.inputBytes),
      egress: computeRate(outputBytes, last?.outputBytes),
    };
  }
}

function toOptional(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
