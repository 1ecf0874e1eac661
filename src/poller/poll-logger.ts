import type { Logger } from '../runtime/logger.ts';
import type { InvalidCount } from '../listing/listing.ts';
import type { Snapshot } from '../tally/snapshot.ts';
import type { FailedListing } from './fetch-listing.ts';

/** Logs the outcome of polls: a change of state once at `info` or `warn`, its repetition at `debug`. */
export class PollLogger {
  readonly #logger: Logger;
  #hasLoggedPoll = false;
  #lastFailure: string | undefined;
  /** Problems of the last good listing. */
  readonly #problems = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  logSuccess(snapshot: Snapshot, invalid: readonly InvalidCount[], durationMs: number): void {
    const { users, tasks, invalidFields, foreignRecords, surplus, implausibleGains } = snapshot;
    const hasChanged = !this.#hasLoggedPoll || this.#lastFailure !== undefined;
    this.#log(hasChanged, 'info', { users, tasks, duration_ms: Math.round(durationMs) }, 'Poll succeeded');
    this.#hasLoggedPoll = true;
    this.#lastFailure = undefined;

    const { labelSets, columns } = snapshot.rows.foldedLabelSets;
    const folded = labelSets.filter((_, row) => (columns.foldedLabelSets[row] ?? 0) > 0);
    this.#logProblem('Skipped invalid records', invalid.length, () => ({
      records: toRecord(invalid, ({ record, reason }) => `${record} ${reason}`),
    }));
    this.#logProblem('Treated invalid fields as missing', invalidFields.length, () => ({
      fields: toRecord(invalidFields, ({ record, field }) => `${record} ${field}`),
    }));
    this.#logProblem('Listing has records of other service codes', foreignRecords.length, () => ({
      records: toRecord(foreignRecords, ({ record }) => record),
    }));
    this.#logProblem('Folded label sets over metrics.max_label_sets', folded.length, () => ({
      families: folded.flat(),
    }));
    const items = surplus.filter(({ item }) => item !== 'account');
    this.#logProblem('Listing exceeded limits; the surplus is counted', items.length, () => ({
      items: toRecord(items, ({ item }) => item),
    }));
    const uncounted = surplus.find(({ item }) => item === 'account')?.count ?? 0;
    const spent = 'The accounts of the process are used up; bytes of some tasks are not counted';
    this.#logProblem(spent, uncounted, () => ({ tasks: uncounted }));
    for (const direction of ['input', 'http_output'] as const) {
      const gains = implausibleGains[direction];
      const message = 'Byte counts fell or leapt; they wait for three listings to confirm them';
      this.#logProblem(message, gains, () => ({ direction, gains }), direction);
    }
  }

  logFailure({ error, ret }: FailedListing, durationMs: number): void {
    const { reason, status, retryAfterMs } = error;
    // Not the message: it may contain the offset of an invalid byte, which differs from poll to poll.
    const failure = `${reason} ${status ?? ''} ${ret ?? ''}`;
    const fields = {
      reason,
      // Only the message: the error's cause may quote a signed URL.
      err: error.message,
      status,
      ret,
      retry_after_ms: retryAfterMs,
      duration_ms: Math.round(durationMs),
    };
    this.#log(failure !== this.#lastFailure, 'warn', fields, 'Poll failed');
    this.#hasLoggedPoll = true;
    this.#lastFailure = failure;
  }

  /** Logs a problem unless its count is 0. Problems with one message are told apart by `key`. */
  #logProblem(message: string, count: number, getFields: () => object, key = message): void {
    if (count > 0) {
      this.#log(!this.#problems.has(key), 'warn', getFields(), message);
      this.#problems.add(key);
    } else this.#problems.delete(key);
  }

  #log(hasChanged: boolean, level: 'info' | 'warn', fields: object, message: string): void {
    this.#logger[hasChanged ? level : 'debug'](fields, message);
  }
}

function toRecord<T extends { readonly count: number }>(
  counts: readonly T[],
  toName: (count: T) => string,
): Readonly<Record<string, number>> {
  return Object.fromEntries(counts.map((entry) => [toName(entry), entry.count]));
}
