import { linkAbort } from '../runtime/abort.ts';
import { FirstFailure } from '../runtime/background-task.ts';
import { runInTurns } from '../runtime/concurrency.ts';
import { runInSteps } from '../runtime/steps.ts';
import { readLastListingMs, type StateChange } from '../tally/tally-state.ts';
import type { Tally } from '../tally/tally.ts';
import { DatabaseError, type Database, type StateRecord, type WriteBatch } from './level-database.ts';
import { isDamage, openDatabase, setAside, type OpenDatabaseOptions } from './open-database.ts';
import { StateWriter, type StateStatistics } from './state-writer.ts';

/** A listing is published after this time even if it is not written yet. */
const MAX_PUBLICATION_DELAY_MS = 100;

/** A service code that is added while the disk does not answer starts without its state after this time. */
const RESTORE_TIMEOUT_MS = 5000;

/** On a busy machine, single writes are late again and again: that is one state, and two lines in the log. */
const LATENESS_END_MS = 60_000;

/** Records that are encoded or decoded in a turn of the event loop: about a millisecond. */
const RECORDS_PER_TURN = 500;

export interface StateStoreOptions extends OpenDatabaseOptions {
  /** How long the state of a service code that is not configured is kept after its last good listing. */
  readonly retainMs: number;
}

/** The service codes of the configuration at the start. */
export interface ConfiguredCodes {
  /** Creates an empty tally for a service code; `undefined` if this process does not poll it. */
  readonly createTally: (serviceCode: string) => Tally | undefined;
  readonly codesOnOtherShards: ReadonlySet<string>;
}

/** The records of one service code, without the code in their keys. */
interface CodeRecords {
  readonly serviceCode: string;
  readonly records: StateRecord[];
}

/** Persists the tallies: each good listing in a transaction of its own. */
export class StateStore implements AsyncDisposable {
  readonly #options: StateStoreOptions;
  readonly #writer: StateWriter;
  readonly #failure = new FirstFailure();
  readonly statistics: StateStatistics = {
    writeErrors: 0,
    delayedPublications: 0,
    lastWriteMs: undefined,
    bytes: undefined,
  };
  /** The tallies that were restored at the start, by service code. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Tallies whose last listing is not written, by service code. */
  readonly #unwritten = new Map<string, Tally>();
  /** Writes that have not begun, by service code. */
  readonly #queued = new Map<string, Promise<boolean>>();
  /** Service codes of which the database may lack a listing: the next write replaces all of their records. */
  readonly #incomplete = new Set<string>();
  /** When a write last took too long; `undefined` once none has for a while. */
  #lastLateMs: number | undefined;

  private constructor(
    options: StateStoreOptions,
    { database, tallies }: { readonly database: Database; readonly tallies: ReadonlyMap<string, Tally> },
  ) {
    const { path, clock, logger } = options;
    this.#options = options;
    this.tallies = tallies;
    this.#writer = new StateWriter({
      database,
      reopen: () => openDatabase(options),
      onInternalError: this.#failure.report,
      statistics: this.statistics,
      path,
      clock,
      logger,
    });
  }

  /**
   * Opens the database and restores the tallies of the configured service codes. Rejects with a message for the operator if
   * it cannot be used.
   */
  static async open(options: StateStoreOptions, codes: ConfiguredCodes): Promise<StateStore> {
    const database = await openDatabase(options);
    try {
      return new StateStore(options, { database, tallies: await restoreTallies(database, options, codes) });
    } catch (error) {
      await database.close();
      if (!isDamage(error)) throw error;
      await setAside(options, error);
      return new StateStore(options, { database: await openDatabase(options), tallies: new Map() });
    }
  }

  /** Rejects with the first unexpected error, which is a bug. */
  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  /**
   * Restores the tally of a service code that is polled from now on; `undefined` if there is no state of it. A tally whose last
   * listing is not written goes on itself.
   */
  async restore(serviceCode: string, createTally: () => Tally): Promise<Tally | undefined> {
    const unwritten = this.#unwritten.get(serviceCode);
    if (unwritten !== undefined) return unwritten;
    const { logger, path } = this.#options;
    let restored: Tally | undefined;
    const reading = this.#writer.write(async (_batch, database) => {
      for await (const code of readCodes(database, toPrefix(serviceCode)))
        if (!isExpired(code, this.#options))
          restored = await restoreTally(createTally(), code, this.#options);
    });
    const isRead = await this.#waitBriefly(RESTORE_TIMEOUT_MS, reading);
    if (isRead && restored !== undefined) return restored;
    this.#incomplete.add(serviceCode);
    if (!isRead)
      logger.warn(
        { path, service_code: serviceCode },
        'State of service code is unusable; its counters start at 0',
      );
    return undefined;
  }

  /**
   * Writes what the last commit of a tally has changed. Resolves when the listing can be published: when it is written, or
   * after 100 ms.
   */
  async recordCommit(tally: Tally): Promise<void> {
    const isInTime = await this.#waitBriefly(MAX_PUBLICATION_DELAY_MS, this.#write(tally));
    if (!isInTime) this.statistics.delayedPublications += 1;
  }

  /** Writes what is not written and closes the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#unwritten.values()].map((tally) => this.#write(tally)));
    await this.#writer[Symbol.asyncDispose]();
  }

  /** Resolves to whether the listing is written. */
  #write(tally: Tally): Promise<boolean> {
    const { serviceCode } = tally;
    this.#unwritten.set(serviceCode, tally);
    const queued = this.#queued.get(serviceCode);
    if (queued !== undefined) return queued;
    const queuedRevision = tally.revision;
    let writtenRevision = queuedRevision;
    const written = this.#writer
      .write(async (batch, database) => {
        this.#queued.delete(serviceCode);
        const isWhole = tally.revision !== queuedRevision || this.#incomplete.has(serviceCode);
        const prefix = toPrefix(serviceCode);
        if (isWhole) await deleteRecords(batch, database, prefix);
        writtenRevision = tally.revision;
        const add = ([key, value]: StateChange): void => {
          if (value === undefined) batch.delete(prefix + key);
          else batch.put(prefix + key, value);
        };
        await runInTurns(tally.beginExport(isWhole ? 'all' : 'changed', add), RECORDS_PER_TURN);
      })
      .then((isWritten) => {
        this.#queued.delete(serviceCode);
        if (!isWritten) this.#incomplete.add(serviceCode);
        else {
          this.#incomplete.delete(serviceCode);
          if (tally.revision === writtenRevision) this.#unwritten.delete(serviceCode);
        }
        return isWritten;
      });
    this.#queued.set(serviceCode, written);
    return written;
  }

  /** Resolves to false after the time. */
  async #waitBriefly(timeoutMs: number, written: Promise<boolean>): Promise<boolean> {
    using timeout = linkAbort(undefined);
    const late = this.#options.clock.sleep(timeoutMs, timeout.signal).then(
      () => 'late' as const,
      () => false,
    );
    const result = await Promise.race([written, late]);
    this.#logLateness(result === 'late');
    return result === true;
  }

  /** Logs when writes begin to take too long, and when none has for a minute. */
  #logLateness(isLate: boolean): void {
    const { clock, logger, path } = this.#options;
    const nowMs = clock.monotonic();
    if (isLate && this.#lastLateMs === undefined)
      logger.warn({ path }, 'State is written late; listings are published before');
    if (isLate) this.#lastLateMs = nowMs;
    else if (this.#lastLateMs !== undefined && nowMs - this.#lastLateMs >= LATENESS_END_MS) {
      this.#lastLateMs = undefined;
      logger.info({ path }, 'State is written in time again');
    }
  }
}

function toPrefix(serviceCode: string): string {
  return `${serviceCode}\0`;
}

/** Restores the tallies of the configured service codes, and drops the state that is not to be kept. */
async function restoreTallies(
  database: Database,
  options: StateStoreOptions,
  { createTally, codesOnOtherShards }: ConfiguredCodes,
): Promise<ReadonlyMap<string, Tally>> {
  const { path, logger } = options;
  const tallies = new Map<string, Tally>();
  const dropped: string[] = [];
  let unconfiguredCount = 0;
  const batch = database.createBatch();
  for await (const code of readCodes(database, '')) {
    const { serviceCode, records } = code;
    const tally = createTally(serviceCode);
    if (tally !== undefined) tallies.set(serviceCode, await restoreTally(tally, code, options));
    else if (codesOnOtherShards.has(serviceCode) || isExpired(code, options)) {
      dropped.push(serviceCode);
      for (const [key] of records) batch.delete(toPrefix(serviceCode) + key);
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
  return tallies;
}

async function restoreTally(
  tally: Tally,
  { serviceCode, records }: CodeRecords,
  { clock }: StateStoreOptions,
): Promise<Tally> {
  const restorer = tally.createRestorer({ wallMs: clock.now(), monotonicMs: clock.monotonic() });
  const apply = ([key, value]: StateRecord): void => {
    if (!restorer.apply(key, value)) throw createDamageError(serviceCode);
  };
  await runInTurns(runInSteps(records, apply), RECORDS_PER_TURN);
  if (!restorer.finish()) throw createDamageError(serviceCode);
  return tally;
}

function createDamageError(serviceCode: string): DatabaseError {
  const code = JSON.stringify(serviceCode);
  return new DatabaseError('damaged', `Expected valid records of service code ${code}, found an invalid one`);
}

function isExpired({ records, serviceCode }: CodeRecords, { clock, retainMs }: StateStoreOptions): boolean {
  const lastListingMs = readLastListingMs(records);
  if (lastListingMs === undefined) throw createDamageError(serviceCode);
  return clock.now() - lastListingMs >= retainMs;
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
  for await (const records of database.read(prefix)) for (const [key] of records) batch.delete(key);
}
