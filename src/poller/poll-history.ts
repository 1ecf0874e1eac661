import { sumByServer, sumColumn } from '../listing/rows.ts';
import type { Snapshot } from '../tally/snapshot.ts';
import { POLL_ERROR_REASONS, type PollErrorReason } from '../upstream/errors.ts';

/** Polls kept for each service code: half an hour at the default interval. */
export const HISTORY_CAPACITY = 120;

/** Totals of a good listing; its bytes are sums of the counters since the exporter started. */
export interface PolledTotals extends Pick<Snapshot, 'users' | 'tasks'> {
  readonly connections: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly serverOutputBytes: ReadonlyMap<string, number>;
}

export function computeTotals({ users, tasks, rows: { accounts, outputs } }: Snapshot): PolledTotals {
  return {
    users,
    tasks,
    connections: sumColumn(outputs.columns.httpConnections),
    inputBytes: sumColumn(accounts.columns.inputBytes),
    outputBytes: sumColumn(outputs.columns.httpOutputBytes),
    serverOutputBytes: sumByServer(outputs, 'httpOutputBytes'),
  };
}

/** Bytes per second since the good listing before; `undefined` for the first one. */
export interface ListingRates {
  readonly ingress: number | undefined;
  readonly egress: number | undefined;
  readonly serverEgress: ReadonlyMap<string, number | undefined>;
}

export type PlottedTotals = Pick<
  PolledTotals & ListingRates,
  'users' | 'tasks' | 'connections' | 'ingress' | 'egress'
>;

interface PollOutcome {
  readonly durationMs: number;
  readonly error?: PollErrorReason | undefined;
  /** The code that belongs to the error, if there was a response. */
  readonly errorCode?: number | undefined;
}

/** A poll that ended at `atMs`, in monotonic milliseconds; with totals if it succeeded. */
export interface CompletedPoll extends PollOutcome {
  readonly atMs: number;
  readonly totals?: PolledTotals;
}

/** One poll of the history. Numbers have the seven significant digits of single precision. */
export interface PollHistoryEntry extends PollOutcome {
  /** Time between the end of this poll and the end of the latest poll. */
  readonly beforeLatestMs: number;
  /** `undefined` if the poll failed. */
  readonly totals: PlottedTotals | undefined;
}

/** Numbers of a poll; NaN means unknown. */
const COLUMNS = [
  'gapMs',
  'durationMs',
  'outcome',
  'errorCode',
  'users',
  'tasks',
  'connections',
  'ingress',
  'egress',
] as const;

type Column = (typeof COLUMNS)[number];

/** The last polls of a service code in single precision: 4.3 kB for 120 polls, not 24 kB as objects. */
export class PollHistory {
  /** One column after the other; in each, the latest poll is the last. */
  readonly #values = new Float32Array(HISTORY_CAPACITY * COLUMNS.length).fill(Number.NaN);
  #count = 0;
  #latestMs: number | undefined;
  #latestListing: (PolledTotals & ListingRates & { readonly atMs: number }) | undefined;

  /** Those of the last good listing, in full precision. */
  get latestRates(): ListingRates | undefined {
    return this.#latestListing;
  }

  append({ atMs, durationMs, error, errorCode, totals }: CompletedPoll): void {
    if (totals !== undefined) this.#latestListing = { ...totals, ...this.#computeRates(totals, atMs), atMs };
    const row: Partial<Record<Column, number | undefined>> = {
      ...(totals && this.#latestListing),
      gapMs: atMs - (this.#latestMs ?? atMs),
      durationMs,
      outcome: error === undefined ? 0 : POLL_ERROR_REASONS.indexOf(error) + 1,
      errorCode,
    };
    for (const name of COLUMNS) {
      const column = this.#getColumn(name);
      column.copyWithin(0, 1);
      column[HISTORY_CAPACITY - 1] = row[name] ?? Number.NaN;
    }
    this.#count = Math.min(this.#count + 1, HISTORY_CAPACITY);
    this.#latestMs = atMs;
  }

  /** The number of a poll that is `age` polls older than the latest one. */
  #read(name: Column, age: number): number | undefined {
    const value = this.#getColumn(name)[HISTORY_CAPACITY - 1 - age];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }

  #getColumn(name: Column): Float32Array {
    const start = COLUMNS.indexOf(name) * HISTORY_CAPACITY;
    return this.#values.subarray(start, start + HISTORY_CAPACITY);
  }

  entries(): readonly PollHistoryEntry[] {
    let beforeLatestMs = 0;
    const latestFirst = Array.from({ length: this.#count }, (_, age) => {
      const entry = {
        beforeLatestMs,
        durationMs: this.#read('durationMs', age) ?? 0,
        error: POLL_ERROR_REASONS[(this.#read('outcome', age) ?? 0) - 1],
        errorCode: this.#read('errorCode', age),
        totals: this.#readTotals(age),
      };
      beforeLatestMs += this.#read('gapMs', age) ?? 0;
      return entry;
    });
    return latestFirst.toReversed();
  }

  #readTotals(age: number): PlottedTotals | undefined {
    const users = this.#read('users', age);
    if (users === undefined) return undefined;
    return {
      users,
      tasks: this.#read('tasks', age) ?? 0,
      connections: this.#read('connections', age) ?? 0,
      ingress: this.#read('ingress', age),
      egress: this.#read('egress', age),
    };
  }

  /** A rate is `undefined` without elapsed time, and if the sum fell because idle label sets were evicted. */
  #computeRates({ inputBytes, outputBytes, serverOutputBytes }: PolledTotals, atMs: number): ListingRates {
    const last = this.#latestListing;
    const elapsedMs = atMs - (last?.atMs ?? atMs);
    const computeRate = (bytes: number, lastBytes = 0): number | undefined =>
      bytes < lastBytes || elapsedMs <= 0 ? undefined : ((bytes - lastBytes) * 1000) / elapsedMs;
    const serverEgress = new Map<string, number | undefined>();
    for (const [vsId, bytes] of serverOutputBytes)
      serverEgress.set(vsId, computeRate(bytes, last?.serverOutputBytes.get(vsId)));
    const ingress = computeRate(inputBytes, last?.inputBytes);
    return { ingress, egress: computeRate(outputBytes, last?.outputBytes), serverEgress };
  }
}
