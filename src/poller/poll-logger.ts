import type { Logger } from '../runtime/logger.ts';
import type { InvalidCount } from '../listing/listing-sink.ts';
import type { Snapshot } from '../tally/snapshot.ts';
import type { FailedListing } from './fetch-listing.ts';

/** Logs the outcome of polls: a change of state once at `info` or `warn`, its repetition at `debug`. */
export class PollLogger {
  readonly #logger: Logger;
  #hasLoggedPoll = false;
  #lastFailure: string | undefined;
  #hasInvalidRecords = false;
  #hasInvalidFields = false;
  #hasForeignRecords = false;
  #hasFoldedLabelSets = false;
  #hasSurplus = false;
  #implausibleGains: Snapshot['implausibleGains'] = { input: 0, http_output: 0 };

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  logSuccess(snapshot: Snapshot, invalid: readonly InvalidCount[], durationMs: number): void {
    const { users, tasks } = snapshot;
    const hasChanged = !this.#hasLoggedPoll || this.#lastFailure !== undefined;
    this.#log(hasChanged, 'info', { users, tasks, duration_ms: Math.round(durationMs) }, 'Poll succeeded');
    this.#hasLoggedPoll = true;
    this.#lastFailure = undefined;
    this.#logInvalidRecords(invalid);
    this.#logInvalidFields(snapshot);
    this.#logForeignRecords(snapshot);
    this.#logFoldedLabelSets(snapshot);
    this.#logSurplus(snapshot);
    this.#logImplausibleGains(snapshot);
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

  #logInvalidRecords(invalid: readonly InvalidCount[]): void {
    const hasInvalid = invalid.length > 0;
    if (hasInvalid) {
      const counts = invalid.map(({ record, reason, count }) => [`${record} ${reason}`, count]);
      const fields = { records: Object.fromEntries(counts) };
      this.#log(!this.#hasInvalidRecords, 'warn', fields, 'Skipped invalid records');
    }
    this.#hasInvalidRecords = hasInvalid;
  }

  #logInvalidFields({ invalidFields }: Snapshot): void {
    const hasInvalid = invalidFields.length > 0;
    if (hasInvalid) {
      const counts = invalidFields.map(({ record, field, count }) => [`${record} ${field}`, count]);
      const fields = { fields: Object.fromEntries(counts) };
      this.#log(!this.#hasInvalidFields, 'warn', fields, 'Treated invalid fields as missing');
    }
    this.#hasInvalidFields = hasInvalid;
  }

  #logForeignRecords({ foreignRecords }: Snapshot): void {
    const hasForeign = foreignRecords.length > 0;
    if (hasForeign) {
      const fields = {
        records: Object.fromEntries(foreignRecords.map(({ record, count }) => [record, count])),
      };
      this.#log(!this.#hasForeignRecords, 'warn', fields, 'Listing has records of other service codes');
    }
    this.#hasForeignRecords = hasForeign;
  }

  #logFoldedLabelSets({ listing }: Snapshot): void {
    const folded = listing.foldedLabelSets.filter(({ value }) => value > 0);
    const hasFolded = folded.length > 0;
    if (hasFolded) {
      const fields = { families: folded.map(({ labels }) => labels[1]) };
      this.#log(!this.#hasFoldedLabelSets, 'warn', fields, 'Folded label sets over metrics.max_label_sets');
    }
    this.#hasFoldedLabelSets = hasFolded;
  }

  #logSurplus({ surplus }: Snapshot): void {
    const hasSurplus = surplus.length > 0;
    if (hasSurplus) {
      const fields = { items: Object.fromEntries(surplus.map(({ item, count }) => [item, count])) };
      this.#log(!this.#hasSurplus, 'warn', fields, 'Listing exceeded limits; the surplus is counted');
    }
    this.#hasSurplus = hasSurplus;
  }

  #logImplausibleGains({ implausibleGains }: Snapshot): void {
    for (const direction of ['input', 'http_output'] as const) {
      const gains = implausibleGains[direction];
      const isNew = this.#implausibleGains[direction] === 0;
      if (gains > 0)
        this.#log(
          isNew,
          'warn',
          { direction, gains },
          'Byte counts fell or leapt; they wait for three listings to confirm them',
        );
    }
    this.#implausibleGains = implausibleGains;
  }

  #log(hasChanged: boolean, level: 'info' | 'warn', fields: object, message: string): void {
    this.#logger[hasChanged ? level : 'debug'](fields, message);
  }
}
