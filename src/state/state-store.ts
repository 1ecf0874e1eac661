import { randomUUID } from 'node:crypto';
import type { StateMetrics } from '../metrics/exporter-metrics.ts';
import { FirstFailure } from '../runtime/background-task.ts';
import { getErrorCode, getErrorMessage } from '../runtime/errors.ts';
import type { Tally } from '../tally/tally.ts';
import { UnusableStateError } from './format.ts';
import { Journal, toJournalPath } from './journal.ts';
import { openState, type OpenedState, type OpenStateOptions } from './open-state.ts';
import { PeriodicStateWriter } from './periodic-state-writer.ts';
import { SavedCodes } from './saved-codes.ts';
import { writeState } from './write-state.ts';

/** A journal that is larger is rewritten when the snapshot cannot be. */
const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;

export interface StateStoreOptions extends OpenStateOptions {
  readonly intervalMs: number;
  /** How long the state of a service code that is not configured is kept. */
  readonly retainMs: number;
}

/** Dependencies of a state store. */
export interface StateStoreDependencies {
  /** Returns the tallies of the configured service codes. */
  readonly tallies: () => Iterable<Tally>;
  readonly metrics: StateMetrics;
}

/**
 * Persists the tallies: all of them in a snapshot at intervals, and the totals of each good listing in a journal between
 * two snapshots.
 */
export class StateStore implements AsyncDisposable {
  readonly #options: StateStoreOptions;
  /** The id of the snapshot to which the journal of the earlier process belongs. */
  readonly #openedJournalId: string | undefined;
  readonly #codes: SavedCodes;
  readonly #journal: Journal;
  readonly #failure = new FirstFailure();
  /** Tallies that were restored when the state was opened and are not polled yet. */
  readonly #restored: Map<string, Tally>;
  #dependencies: StateStoreDependencies | undefined;
  #writer: PeriodicStateWriter | undefined;
  /** Error code of the last write of the journal; `undefined` if it succeeded. */
  #lastErrorCode: string | undefined;

  private constructor(options: StateStoreOptions, opened: OpenedState) {
    const { retainMs, logger, path } = options;
    this.#options = options;
    this.#openedJournalId = opened.journalId;
    this.#restored = new Map(opened.tallies);
    this.#codes = new SavedCodes(opened.codes, retainMs, logger);
    this.#journal = new Journal({
      ...options,
      path: toJournalPath(path),
      onWrite: (error) => this.#recordJournalWrite(error),
    });
  }

  /** Opens the state that an earlier process left; see {@link openState}. */
  static async open(options: StateStoreOptions): Promise<StateStore> {
    return new StateStore(options, await openState(options));
  }

  /** Restores the tally of a service code that is polled from now on; `undefined` if there is no state of it. */
  restoreTally(serviceCode: string, createTally: () => Tally): Tally | undefined {
    const { clock, logger, path } = this.#options;
    const restored = this.#restored.get(serviceCode);
    this.#restored.delete(serviceCode);
    if (restored !== undefined) return restored;
    try {
      const now = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
      const tally = this.#codes.restore(serviceCode, createTally, now);
      if (tally !== undefined)
        logger.info({ file: path, service_code: serviceCode }, 'State of service code restored');
      return tally;
    } catch (error) {
      if (!(error instanceof UnusableStateError)) throw error;
      const fields = { file: path, service_code: serviceCode, err: error.message };
      logger.warn(fields, 'State of service code is unusable; its counters start at 0');
      return undefined;
    }
  }

  /**
   * Appends the totals of a commit to the journal. Resolves when the listing can be published: when the totals are
   * written, or after 100 ms. Does not reject.
   */
  recordCommit(tally: Tally): Promise<void> {
    this.#codes.recordCommit(tally);
    return this.#journal.append(tally);
  }

  /** Writes a snapshot and begins its journal. */
  async begin(dependencies: StateStoreDependencies): Promise<void> {
    this.#dependencies = dependencies;
    this.#writer = new PeriodicStateWriter({
      ...this.#options,
      ...dependencies,
      write: () => this.#write(dependencies),
    });
    await this.#writer.write();
  }

  /** Starts to write at intervals, after `begin`. The promise rejects with an unexpected error, or on disposal. */
  async start(): Promise<never> {
    return await Promise.race([this.#failure.promise, this.#writer?.start() ?? this.#failure.promise]);
  }

  /** Writes a last snapshot, if it was started. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer?.[Symbol.asyncDispose]();
    await this.#journal.close();
  }

  async #write({ tallies }: StateStoreDependencies): Promise<number> {
    const { files, path, clock } = this.#options;
    const id = randomUUID();
    const createdMs = clock.now();
    const journalId = this.#journal.snapshotId ?? this.#openedJournalId;
    try {
      return await this.#journal.rotate(id, () =>
        writeState(files, path, { createdMs, id, journalId }, this.#codes.list(tallies(), createdMs)),
      );
    } catch (error) {
      if (journalId !== undefined && this.#journal.bytes > MAX_JOURNAL_BYTES)
        await this.#journal.rotate(journalId, () => Promise.resolve(), this.#codes.tallies);
      throw error;
    }
  }

  #recordJournalWrite(error: unknown): void {
    const { logger, path } = this.#options;
    const file = toJournalPath(path);
    if (error === undefined) {
      if (this.#lastErrorCode !== undefined) logger.info({ file }, 'State journal written');
      this.#lastErrorCode = undefined;
      return;
    }
    const code = getErrorCode(error);
    if (code === undefined) {
      this.#failure.report(error);
      return;
    }
    this.#dependencies?.metrics.recordWriteError();
    const level = code === this.#lastErrorCode ? 'debug' : 'warn';
    logger[level]({ file, err: getErrorMessage(error) }, 'State journal write failed');
    this.#lastErrorCode = code;
  }
}
