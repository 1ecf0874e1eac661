import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { linkAbort } from '../runtime/abort.ts';
import { FirstFailure } from '../runtime/background-task.ts';
import { readInstant } from '../runtime/instant.ts';
import { getErrorMessage } from '../runtime/errors.ts';
import {
  readCodeEntry,
  type StateChange,
  type StateRecord,
  type TallyRecords,
} from '../tally/tally-state.ts';
import type { Tally } from '../tally/tally.ts';
import { DatabaseError, type Database, type WriteBatch } from './level-database.ts';
import { openDatabase, setAside, type OpenDatabaseOptions } from './open-database.ts';

/** A listing is published after this time even if it is not written yet. */
const MAX_PUBLICATION_DELAY_MS = 100;

/** A service code that is added while the disk does not answer starts without its state after this time. */
const RESTORE_TIMEOUT_MS = 5000;

/** On a busy machine, single writes are often late. */
const LATENESS_LOG_INTERVAL_MS = 60_000;

/** A service code that is not configured is kept for this long after its last good listing. */
const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;

export interface ConfiguredCodes {
  /** Creates an empty tally for a service code; `undefined` if this process does not poll it. */
  readonly createTally: (serviceCode: string) => Tally | undefined;
  readonly codesOnOtherShards: ReadonlySet<string>;
}

export interface StateStatistics {
  writeErrors: number;
  /** Listings that were published before they were written. */
  delayedPublications: number;
  /** Monotonic; absent before the first write. */
  lastWriteMs?: number;
}

/** The records of one service code, without the code in their keys. */
interface CodeRecords {
  readonly serviceCode: string;
  readonly records: StateRecord[];
}

/** What the scan at the start has found. */
interface Restored {
  readonly tallies: ReadonlyMap<string, Tally>;
  /** All service codes that the database has records of. */
  readonly present: Set<string>;
}

interface QueuedWrite {
  readonly records: TallyRecords;
  /** Those of one commit; `undefined` to replace all records. */
  readonly changes: readonly StateChange[] | undefined;
}

/**
 * Persists the tallies: the changes of each good listing together, one batch at a time. While a disk hangs,
 * it occupies one thread, and further listings wait for the next batch.
 */
export class StateStore implements AsyncDisposable {
  readonly #options: OpenDatabaseOptions;
  readonly #failure = new FirstFailure();
  readonly statistics: StateStatistics = { writeErrors: 0, delayedPublications: 0 };
  /** The tallies that were restored at the start, by service code. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** `undefined` after a write has failed: LevelDB accepts no further one until it is opened again. */
  #database: Promise<Database> | undefined;
  /** The records of the tallies whose last listing is not written, by service code. */
  readonly #unwritten = new Map<string, TallyRecords>();
  /** Service codes of which the database has all records. The next write of another one replaces them. */
  readonly #complete: Set<string>;
  /** Service codes that the database may have records of; `undefined` if any, after an error. */
  #present: Set<string> | undefined;
  /** The changes of the next batch, by service code. */
  #queue = new Map<string, QueuedWrite>();
  /** Resolves to whether the last batch is written. */
  #batch = Promise.resolve(true);
  /** Resolves when all work on the database has ended. */
  #idle: Promise<unknown> = Promise.resolve();
  /** The message of the last write that failed; `undefined` if the last write succeeded. */
  #writeError: string | undefined;
  /** When the log last said that a write takes too long. */
  #lateLoggedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(options: OpenDatabaseOptions, database: Database, { tallies, present }: Restored) {
    this.#options = options;
    this.#database = Promise.resolve(database);
    this.tallies = tallies;
    this.#complete = new Set(tallies.keys());
    this.#present = present;
  }

  /** Restores the tallies of the configured codes. Rejects with a message for the operator. */
  static async open(options: OpenDatabaseOptions, codes: ConfiguredCodes): Promise<StateStore> {
    let restored: Restored = { tallies: new Map(), present: new Set() };
    const database = await openDatabase(options, async (opened) => {
      restored = await restoreTallies(opened, options, codes);
    });
    return new StateStore(options, database, restored);
  }

  /** Like `open`, but without state and with a warning if the folder, which is a default, cannot be used. */
  static async openDefault(
    options: OpenDatabaseOptions,
    codes: ConfiguredCodes,
  ): Promise<StateStore | undefined> {
    try {
      return await StateStore.open(options, codes);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const { path, logger } = options;
      // This process counts from 0. If a later one resumed, Prometheus would take its totals for an increase.
      const renamedTo = error.code === 'locked' ? undefined : await setAside(options).catch(() => undefined);
      const fields = { path, err: error.message, renamed_to: renamedTo };
      logger.warn(fields, 'Default folder of the state cannot be used; running without state');
      return undefined;
    }
  }

  /** Rejects with the first unexpected error, which is a bug. */
  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  /** The tally of a code that is added, from memory if it is not written; `undefined` without state. */
  async restore(serviceCode: string, createTally: () => Tally): Promise<Tally | undefined> {
    const unwritten = this.#unwritten.get(serviceCode);
    if (unwritten !== undefined)
      return restoreTally(createTally(), { serviceCode, records: [...unwritten.listAll()] }, this.#options);
    let restored: Tally | undefined;
    const read = async (database: Database): Promise<void> => {
      for await (const code of readCodes(database, toPrefix(serviceCode)))
        if (!isExpired(code, this.#options)) restored = restoreTally(createTally(), code, this.#options);
    };
    const reading = this.#enqueue(() => this.#attempt(read));
    const isRead = await this.#waitBriefly(RESTORE_TIMEOUT_MS, reading);
    if (isRead && restored !== undefined) {
      this.#complete.add(serviceCode);
      return restored;
    }
    this.#complete.delete(serviceCode);
    if (!isRead) logUnusable(serviceCode, this.#options);
    return undefined;
  }

  /** Resolves when the listing can be published: when its records are written, or after 100 ms. */
  async write(serviceCode: string, records: TallyRecords): Promise<void> {
    const isFirst = !this.#queue.has(serviceCode);
    const changes = isFirst && this.#complete.has(serviceCode) ? [...records.listChanges()] : undefined;
    const written = this.#enqueueWrite(serviceCode, { records, changes });
    const isInTime = await this.#waitBriefly(MAX_PUBLICATION_DELAY_MS, written);
    if (!isInTime) this.statistics.delayedPublications += 1;
  }

  /** Writes what the database lacks of these tallies: everything, if its files were removed. */
  async writeMissing(tallies: Iterable<Tally>): Promise<void> {
    await this.#enqueue(() => this.#attempt((database) => database.checkFiles()));
    for (const { serviceCode, records } of tallies)
      if (records !== undefined && !this.#complete.has(serviceCode))
        void this.#enqueueWrite(serviceCode, { records, changes: undefined });
    await this.#idle;
  }

  /** Writes what is not written and closes the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const [serviceCode, records] of this.#unwritten)
      void this.#enqueueWrite(serviceCode, { records, changes: undefined });
    await this.#idle;
    await (await this.#database)?.close();
  }

  /** Adds records to the next batch. Resolves to whether they are written. */
  #enqueueWrite(serviceCode: string, write: QueuedWrite): Promise<boolean> {
    if (this.#queue.size === 0) this.#batch = this.#enqueue(() => this.#writeQueue());
    this.#queue.set(serviceCode, write);
    this.#unwritten.set(serviceCode, write.records);
    return this.#batch;
  }

  /** Runs work on the database after all earlier work. It must not reject. */
  #enqueue(work: () => Promise<boolean>): Promise<boolean> {
    const done = this.#idle.then(work);
    this.#idle = done;
    return done;
  }

  async #writeQueue(): Promise<boolean> {
    // Commits of the same turn are written together.
    await yieldToEventLoop();
    const queue = this.#queue;
    this.#queue = new Map();
    const isWritten = await this.#attempt(async (database) => {
      const batch = database.createBatch();
      for (const [serviceCode, { records, changes }] of queue) {
        const prefix = toPrefix(serviceCode);
        const isWhole = changes === undefined || !this.#complete.has(serviceCode);
        // An iterator for each of many new codes would take seconds.
        const mayExist = this.#present?.has(serviceCode) ?? true;
        if (isWhole && mayExist) await deleteRecords(batch, database, prefix);
        for (const [key, value] of isWhole ? records.listAll() : changes) batch.set(prefix + key, value);
      }
      await batch.write();
      this.#noteWrite();
    });
    if (!isWritten) return false;
    for (const serviceCode of queue.keys()) {
      this.#complete.add(serviceCode);
      this.#present?.add(serviceCode);
      if (!this.#queue.has(serviceCode)) this.#unwritten.delete(serviceCode);
    }
    return true;
  }

  /** Resolves to whether the work could be done. After a failure, the database is opened again. */
  async #attempt(work: (database: Database) => Promise<void>): Promise<boolean> {
    const opening = (this.#database ??= openDatabase(this.#options));
    try {
      await work(await opening);
      return true;
    } catch (error) {
      if (!(error instanceof DatabaseError)) this.#failure.report(error);
      this.statistics.writeErrors += 1;
      this.#logFailure(error);
      this.#database = undefined;
      // The database that is opened next may be empty.
      this.#complete.clear();
      this.#present = undefined;
      // Closing may fail with the error of the work, which is logged once.
      await opening.then((database) => database.close()).catch((closeError) => this.#logFailure(closeError));
      return false;
    }
  }

  #noteWrite(): void {
    const { clock, logger, path } = this.#options;
    this.statistics.lastWriteMs = clock.monotonic();
    if (this.#writeError !== undefined) logger.info({ path }, 'State is written again');
    this.#writeError = undefined;
  }

  #logFailure(error: unknown): void {
    const { logger, path } = this.#options;
    const err = getErrorMessage(error);
    logger[err === this.#writeError ? 'debug' : 'warn']({ path, err }, 'State write failed');
    this.#writeError = err;
  }

  async #waitBriefly(timeoutMs: number, done: Promise<boolean>): Promise<boolean> {
    using timeout = linkAbort(undefined);
    const late = this.#options.clock.sleep(timeoutMs, timeout.signal).then(
      () => this.#logLateness(),
      () => undefined,
    );
    return (await Promise.race([done, late])) === true;
  }

  #logLateness(): void {
    const { clock, logger, path } = this.#options;
    if (clock.monotonic() - this.#lateLoggedAtMs < LATENESS_LOG_INTERVAL_MS) return;
    this.#lateLoggedAtMs = clock.monotonic();
    logger.warn({ path }, 'State is written late; listings are published before');
  }
}

function toPrefix(serviceCode: string): string {
  return `${serviceCode}\0`;
}

/** Restores the tallies of the configured service codes, and drops the state that is not to be kept. */
async function restoreTallies(
  database: Database,
  options: OpenDatabaseOptions,
  { createTally, codesOnOtherShards }: ConfiguredCodes,
): Promise<Restored> {
  const { path, logger } = options;
  const tallies = new Map<string, Tally>();
  const present = new Set<string>();
  const dropped: string[] = [];
  let unconfiguredCount = 0;
  const batch = database.createBatch();
  for await (const code of readCodes(database, '')) {
    const { serviceCode, records } = code;
    const tally = createTally(serviceCode);
    present.add(serviceCode);
    if (tally !== undefined) {
      if (restoreTally(tally, code, options) !== undefined) tallies.set(serviceCode, tally);
    } else if (codesOnOtherShards.has(serviceCode) || isExpired(code, options)) {
      dropped.push(serviceCode);
      for (const [key] of records) batch.set(toPrefix(serviceCode) + key, undefined);
    } else unconfiguredCount += 1;
  }
  await batch.write();
  if (dropped.length > 0)
    logger.info(
      { path, service_codes: dropped },
      'Dropped the state of service codes that are not polled here',
    );
  const fields = { path, service_codes: tallies.size, unconfigured_service_codes: unconfiguredCount };
  logger.info(fields, 'State restored');
  return { tallies, present };
}

/** Restores a tally; `undefined` if records are missing or invalid. */
function restoreTally(
  tally: Tally,
  { serviceCode, records }: CodeRecords,
  options: OpenDatabaseOptions,
): Tally | undefined {
  const { clock } = options;
  if (tally.restore(records, readInstant(clock))) return tally;
  logUnusable(serviceCode, options);
  return undefined;
}

function logUnusable(serviceCode: string, { logger, path }: OpenDatabaseOptions): void {
  const fields = { path, service_code: serviceCode };
  logger.warn(fields, 'State of service code is unusable; its counters start at 0');
}

function isExpired({ records }: CodeRecords, { clock }: OpenDatabaseOptions): boolean {
  const last = readCodeEntry(records)?.last;
  return last !== undefined && clock.now() - last.wallMs >= RETENTION_MS;
}

/** Reads the records whose keys begin with a prefix, by service code. */
async function* readCodes(database: Database, prefix: string): AsyncGenerator<CodeRecords, void> {
  let current: CodeRecords | undefined;
  for await (const chunk of database.read(prefix)) {
    for (const [key, value] of chunk) {
      const end = key.indexOf('\0');
      const serviceCode = key.slice(0, end);
      // The format of the database belongs to no code.
      if (serviceCode === '') continue;
      if (current?.serviceCode !== serviceCode) {
        if (current !== undefined) yield current;
        current = { serviceCode, records: [] };
      }
      current.records.push([key.slice(end + 1), value]);
    }
  }
  if (current !== undefined) yield current;
}

async function deleteRecords(batch: WriteBatch, database: Database, prefix: string): Promise<void> {
  for await (const records of database.read(prefix)) for (const [key] of records) batch.set(key, undefined);
}
