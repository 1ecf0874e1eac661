import { chmod, lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import { getErrorCode } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import {
  createFolder,
  DatabaseError,
  ignoreMissing,
  importLevelDb,
  openLevelDatabase,
  translateErrors,
  type Database,
  type DatabaseErrorCode,
} from './level-database.ts';

const FORMAT = 'xvs-exporter 5';
/** Before all service codes, which are not empty. */
const FORMAT_KEY = '\0format';

/** Below `state.path`, because that folder cannot be renamed if it is a mount point. */
const DATABASE_FOLDER = 'database';

const SET_ASIDE_PREFIX = `${DATABASE_FOLDER}.set-aside-`;

/** The number of starts in a row that ended while they opened the database: LevelDB aborts at some damage. */
const UNFINISHED_STARTS_FILE = 'database.opening';
/** A start that finds so many takes the database for damaged. Kills alone can end a few. */
const MAX_UNFINISHED_STARTS = 4;

/** An exporter that is being replaced may still be shutting down. */
const LOCK_TIMEOUT_MS = 5000;
const LOCK_RETRY_MS = 250;

export interface OpenDatabaseOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Opens the database in a folder. Default: LevelDB. */
  readonly open?: ((folder: string) => Promise<Database>) | undefined;
  /** Default: that of the file system. */
  readonly chmod?: ((path: string, mode: number) => Promise<void>) | undefined;
}

type Restore = (database: Database) => Promise<void>;

/**
 * Opens the database in the folder of `state.path`; creates both, but not the parent folder. Waits up to 5 s
 * for another process. Sets aside a database that is damaged, of another version, or unreadable by `restore`,
 * for good: to Prometheus, counters that step back to the totals of an older one would be an increase.
 * Rejects with a message for the operator if the folder cannot be used.
 */
export async function openDatabase(options: OpenDatabaseOptions, restore?: Restore): Promise<Database> {
  // A missing build is no fault of the folder.
  if (options.open === undefined) await importLevelDb();
  try {
    await translateErrors(createFolder(options.path));
    await restrictFolders(options);
    try {
      return await openWhenUnlocked(options, restore);
    } catch (error) {
      if (!(error instanceof DatabaseError && error.code === 'damaged')) throw error;
      options.logger.warn(
        { path: options.path, err: error.message, renamed_to: await setAside(options) },
        'State is unusable; the counters of all service codes start at 0; the renamed folder is yours to remove',
      );
      return await openWhenUnlocked(options, restore);
    }
  } catch (error) {
    throw error instanceof DatabaseError ? describeOpenError(options.path, error) : error;
  }
}

const OWNER_ONLY = 0o700;

/**
 * Closes the folders of the database, those set aside included, to other users: LevelDB makes files that all
 * can read and lock. Warns where the file system does not, or the folders belong to another user.
 */
async function restrictFolders({ path, logger, chmod: setMode = chmod }: OpenDatabaseOptions): Promise<void> {
  const failed: string[] = [];
  let reason: unknown;
  const names = await translateErrors(readdir(path));
  // Others may have folders of their own beside them.
  const isOwn = (name: string): boolean => name === DATABASE_FOLDER || name.startsWith(SET_ASIDE_PREFIX);
  for (const name of names.filter(isOwn)) {
    const folder = join(path, name);
    const readMode = async (): Promise<number> => {
      const found = await translateErrors(ignoreMissing(lstat(folder)));
      return found?.isDirectory() === true ? found.mode & 0o777 : OWNER_ONLY;
    };
    if ((await readMode()) === OWNER_ONLY) continue;
    await setMode(folder, OWNER_ONLY).catch((error: unknown) => {
      reason = getErrorCode(error);
    });
    if ((await readMode()) !== OWNER_ONLY) failed.push(name);
  }
  if (failed.length > 0)
    logger.warn(
      { path, folders: failed, err: reason },
      'Other users may read the state; set its folders to 0700',
    );
}

/**
 * Renames the database, so that no later start resumes it and an operator can look at it, and returns its
 * new path; `undefined` if there is none: an operator may have moved it away.
 */
export async function setAside({ path, clock }: OpenDatabaseOptions): Promise<string | undefined> {
  const renamedTo = join(path, `${SET_ASIDE_PREFIX}${formatTime(clock.now())}`);
  const renaming = rename(join(path, DATABASE_FOLDER), renamedTo).then(() => renamedTo);
  return await translateErrors(ignoreMissing(renaming));
}

async function openWhenUnlocked(options: OpenDatabaseOptions, restore?: Restore): Promise<Database> {
  const { path, clock, logger } = options;
  const giveUpMs = clock.monotonic() + LOCK_TIMEOUT_MS;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await openCounted(options, restore);
    } catch (error) {
      const isLocked = error instanceof DatabaseError && error.code === 'locked';
      if (!isLocked || clock.monotonic() >= giveUpMs) throw error;
      if (attempts === 1) logger.info({ path }, 'Another process uses the state; waiting for it to end');
      await clock.sleep(LOCK_RETRY_MS);
    }
  }
}

/** Opens and reads the database, unless the last starts ended while they did. */
async function openCounted(
  { path, open = openLevelDatabase }: OpenDatabaseOptions,
  restore?: Restore,
): Promise<Database> {
  const countPath = join(path, UNFINISHED_STARTS_FILE);
  const count = await translateErrors(readUnfinishedStarts(countPath));
  try {
    if (count >= MAX_UNFINISHED_STARTS)
      throw new DatabaseError('damaged', `The last ${count} starts ended while they opened it`);
    await translateErrors(writeFile(countPath, String(count + 1)));
    return await check(await open(join(path, DATABASE_FOLDER)), restore);
  } finally {
    await translateErrors(rm(countPath, { force: true }));
  }
}

async function readUnfinishedStarts(path: string): Promise<number> {
  const file = await ignoreMissing(lstat(path));
  if (file === undefined) return 0;
  // Reading a FIFO would wait for ever.
  if (!file.isFile()) throw new DatabaseError('unusable', `Expected ${path} to be a regular file`);
  // A process that this one waits for may remove it.
  return Number(await ignoreMissing(readFile(path, 'utf8'))) || 0;
}

/** Marks a new database with the format. Closes and rejects one that cannot be read. */
async function check(database: Database, restore?: Restore): Promise<Database> {
  try {
    const format = await readFormat(database);
    if (format === undefined) {
      const batch = database.createBatch();
      batch.set(FORMAT_KEY, FORMAT);
      await batch.write();
    } else if (format !== FORMAT)
      throw new DatabaseError('damaged', `Expected the format "${FORMAT}", found ${JSON.stringify(format)}`);
    await restore?.(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function readFormat(database: Database): Promise<string | undefined> {
  for await (const records of database.read('')) {
    const [key, value] = records[0] ?? [];
    return key === FORMAT_KEY ? value : 'none';
  }
  return undefined;
}

const REMEDIES: Readonly<Record<DatabaseErrorCode, string>> = {
  locked: 'stop that process, or give each its own folder',
  damaged: 'move its files away',
  unusable: "choose a folder on a local disk that the exporter's user owns",
  failing: 'check the space on its disk and the log of the system',
};

function describeOpenError(path: string, error: DatabaseError): DatabaseError {
  const { code, message } = error;
  const expectation = 'expected a folder that this process can read, write and lock';
  const finding =
    code === 'locked' ? 'which another process has locked' : `which cannot be used (${message})`;
  return new DatabaseError(
    code,
    `state.path: ${expectation}, found ${JSON.stringify(path)}, ${finding}; ${REMEDIES[code]}`,
    error,
  );
}

/** `20260131T235959123Z`: a process that restarts at once must find a name of its own. */
function formatTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replaceAll(/[-:.]/g, '');
}
