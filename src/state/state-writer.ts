import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock } from '../runtime/clock.ts';
import { getErrorMessage } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { DatabaseError, type Database, type WriteBatch } from './level-database.ts';

/** The size of the files is measured at most this often. It also finds out that the folder was removed. */
const MEASURE_INTERVAL_MS = 60_000;

/** Adds changes to a batch. */
export type Fill = (batch: WriteBatch, database: Database) => Promise<void>;

/** What the metrics tell about the state. The state store updates it. */
export interface StateStatistics {
  writeErrors: number;
  /** Listings that were published before they were written. */
  delayedPublications: number;
  /** Wall-clock milliseconds; `undefined` before the first write. */
  lastWriteMs: number | undefined;
  /** The size of the database; `undefined` before it is measured. */
  bytes: number | undefined;
}

export interface StateWriterOptions {
  readonly database: Database;
  /** Opens the database again after a write has failed: until then LevelDB accepts no further one. */
  readonly reopen: () => Promise<Database>;
  readonly path: string;
  readonly statistics: StateStatistics;
  /** Called with an error that is not one of the database, which is a bug. */
  readonly onInternalError: (error: unknown) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface QueuedFill {
  readonly fill: Fill;
  readonly settle: (isWritten: boolean) => void;
}

/** Writes changes in batches, one batch at a time: while a disk hangs, it occupies one thread, and the queue waits. */
export class StateWriter implements AsyncDisposable {
  readonly #options: StateWriterOptions;
  /** `undefined` after a failure. */
  #database: Database | undefined;
  #queue: QueuedFill[] = [];
  #writing: Promise<void> | undefined;
  #measuredAtMs = Number.NEGATIVE_INFINITY;
  /** The message of the last write that failed; `undefined` if the last write succeeded. */
  #failure: string | undefined;

  constructor(options: StateWriterOptions) {
    this.#options = options;
    this.#database = options.database;
  }

  /** Resolves when the changes are written, to true, or could not be written, to false. */
  write(fill: Fill): Promise<boolean> {
    return new Promise((settle) => {
      this.#queue.push({ fill, settle });
      this.#writing ??= this.#writeQueue();
    });
  }

  /** Waits for what is queued and closes the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#database?.close();
    this.#database = undefined;
  }

  async #writeQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      // Commits of the same turn are written together.
      await yieldToEventLoop();
      const queue = this.#queue;
      this.#queue = [];
      const isWritten = await this.#writeBatch(queue);
      for (const { settle } of queue) settle(isWritten);
    }
    this.#writing = undefined;
  }

  async #writeBatch(queue: readonly QueuedFill[]): Promise<boolean> {
    const { reopen, statistics, onInternalError, clock } = this.#options;
    try {
      const database = (this.#database ??= await reopen());
      const batch = database.createBatch();
      for (const { fill } of queue) await fill(batch, database);
      await batch.write();
      await this.#measure(database);
      statistics.lastWriteMs = clock.now();
      this.#logSuccess();
      return true;
    } catch (error) {
      if (!(error instanceof DatabaseError)) onInternalError(error);
      statistics.writeErrors += 1;
      this.#logFailure(getErrorMessage(error));
      await this.#closeAfterFailure();
      return false;
    }
  }

  async #measure(database: Database): Promise<void> {
    const { clock, statistics } = this.#options;
    if (clock.monotonic() - this.#measuredAtMs < MEASURE_INTERVAL_MS) return;
    statistics.bytes = await database.measureBytes();
    this.#measuredAtMs = clock.monotonic();
  }

  /** The error that closing may have is that of the write. */
  async #closeAfterFailure(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    await database?.close().catch((error: unknown) => this.#logFailure(getErrorMessage(error)));
  }

  #logSuccess(): void {
    const { logger, path } = this.#options;
    if (this.#failure !== undefined) logger.info({ path }, 'State is written again');
    this.#failure = undefined;
  }

  #logFailure(message: string): void {
    const { logger, path } = this.#options;
    logger[message === this.#failure ? 'debug' : 'warn']({ path, err: message }, 'State write failed');
    this.#failure = message;
  }
}
