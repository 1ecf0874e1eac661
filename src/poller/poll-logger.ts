import type { Logger } from '../log.ts';
import type { InvalidCount } from '../tally/listing-tally.ts';
import type { Snapshot } from '../tally/snapshot.ts';
import type { FailedListing } from './fetch-listing.ts';

/**
 * Logs what polls come to: a change of state once, at `info` or `warn`; its repetition at `debug`. A service
 * that is down for a night is a line in the morning, not ten thousand.
 */
export class PollChanges {
  readonly #logger: Logger;
  #lastFailure: string | undefined;
  #isKnown = false;
  #hadInvalid = false;
  #hadFolded = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  succeeded(snapshot: Snapshot, invalid: readonly InvalidCount[], durationMs: number): void {
    const { users, tasks } = snapshot;
    const hasChanged = !this.#isKnown || this.#lastFailure !== undefined;
    this.#log(hasChanged, 'info', { users, tasks, duration_ms: Math.round(durationMs) }, 'Poll succeeded');
    this.#isKnown = true;
    this.#lastFailure = undefined;
    this.#noteInvalid(invalid);
    this.#noteFolded(snapshot);
  }

  failed({ error, ret }: FailedListing, durationMs: number): void {
    const { reason, status, retryAfterMs } = error;
    const failure = `${reason} ${status ?? ''} ${ret ?? ''}`;
    const fields = {
      reason,
      error: error.message,
      status,
      ret,
      retry_after_ms: retryAfterMs,
      duration_ms: Math.round(durationMs),
    };
    this.#log(failure !== this.#lastFailure, 'warn', fields, 'Poll failed');
    this.#isKnown = true;
    this.#lastFailure = failure;
  }

  #noteInvalid(invalid: readonly InvalidCount[]): void {
    if (invalid.length > 0) {
      const fields = {
        records: Object.fromEntries(invalid.map((one) => [`${one.record} ${one.reason}`, one.count])),
      };
      this.#log(!this.#hadInvalid, 'warn', fields, 'Left out entries that break the interface');
    }
    this.#hadInvalid = invalid.length > 0;
  }

  #noteFolded(snapshot: Snapshot): void {
    const families = snapshot.listing.foldedLabelSets
      .filter(({ value }) => value > 0)
      .map(({ labels }) => labels[1]);
    if (families.length > 0) {
      this.#log(!this.#hadFolded, 'warn', { families }, 'Folded label sets beyond metrics.max_label_sets');
    }
    this.#hadFolded = families.length > 0;
  }

  #log(hasChanged: boolean, level: 'info' | 'warn', fields: object, message: string): void {
    this.#logger[hasChanged ? level : 'debug'](fields, message);
  }
}
