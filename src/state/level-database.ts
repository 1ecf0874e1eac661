import { lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type * as classicLevel from 'classic-level';
import { getErrorCode, getErrorMessage } from '../runtime/errors.ts';
import type { StateRecord } from '../tally/tally-state.ts';

/** An embedded database that one process owns. All errors of its methods are {@link DatabaseError}s. */
export interface Database {
  /**
   * Reads the records whose keys begin with a prefix that ends with `\0`, or all, in the order of their UTF-8
   * bytes, in chunks.
   */
  read(prefix: string): AsyncIterable<readonly StateRecord[]>;
  createBatch(): WriteBatch;
  /** Rejects if its files were removed or replaced. A batch does so, too. */
  checkFiles(): Promise<void>;
  close(): Promise<void>;
}

/** Changes that are written together or not at all. */
export interface WriteBatch {
  /** `undefined` deletes a record. */
  set(key: string, value: string | undefined): void;
  /** Passes the changes to the operating system, on a thread of its own. */
  write(): Promise<void>;
}

/**
 * What is wrong with a database: another process has it, its files are damaged, an operator must change its
 * folder, or something fails that may pass, such as writes to a full disk.
 */
export type DatabaseErrorCode = 'locked' | 'damaged' | 'unusable' | 'failing';

/** An error of the database, with the error of its engine as the cause. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly code: DatabaseErrorCode;

  constructor(code: DatabaseErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

const RECORDS_PER_CHUNK = 500;

/** LevelDB caches blocks that were read. The exporter reads a block once, at the start. */
const CACHE_BYTES = 1024 * 1024;

/**
 * Imported on use: without state, the exporter runs on platforms that LevelDB has no build for.
 * Rejects with a message for the operator.
 */
export async function importLevelDb(): Promise<typeof classicLevel> {
  try {
    return await import('classic-level');
  } catch (error) {
    const [reason] = getErrorMessage(error).split('\n');
    const remedy =
      'set it to none, or install the exporter on this platform, on a file system without noexec';
    const message = `state.path: expected classic-level to load, found ${reason}; ${remedy}`;
    throw new DatabaseError('unusable', message, error);
  }
}

/**
 * Opens the LevelDB database in a folder, or creates it. LevelDB appends each batch to a log, which the
 * operating system writes to the disk later: a kill loses nothing, a power failure the last seconds. A thread
 * of its own merges the log into sorted files.
 */
export async function openLevelDatabase(folder: string): Promise<Database> {
  await translateErrors(createFolder(folder));
  await translateErrors(checkFileTypes(folder));
  const { ClassicLevel } = await importLevelDb();
  const level = new ClassicLevel(folder, { cacheSize: CACHE_BYTES });
  await translateErrors(level.open());
  const openedFile = await translateErrors(identifyFiles(folder));
  // LevelDB does not notice: it writes on into files that have no name any more.
  const checkFiles = async (): Promise<void> => {
    if ((await identifyFiles(folder)) !== openedFile) throw new Error('The files were replaced');
  };
  return {
    checkFiles: () => translateErrors(checkFiles()),
    async *read(prefix) {
      const range = prefix === '' ? {} : { gte: prefix, lt: `${prefix.slice(0, -1)}\u0001` };
      const iterator = level.iterator(range);
      try {
        for (;;) {
          const records = await translateErrors(iterator.nextv(RECORDS_PER_CHUNK));
          if (records.length === 0) return;
          yield records;
        }
      } finally {
        await iterator.close();
      }
    },
    createBatch() {
      const batch = level.batch();
      return {
        set: (key, value) => void (value === undefined ? batch.del(key) : batch.put(key, value)),
        write: () => translateErrors(checkFiles().then(() => batch.write())),
      };
    },
    close: () => translateErrors(level.close()),
  };
}

/** Creates a folder for this user alone, but not its parents: on `/proc`, Node.js would try that for ever. */
export async function createFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (getErrorCode(error) !== 'EEXIST') throw error;
  });
}

/** Opening a file that is a FIFO would wait for ever. */
async function checkFileTypes(folder: string): Promise<void> {
  for (const name of (await ignoreMissing(readdir(folder))) ?? []) {
    const file = await ignoreMissing(lstat(join(folder, name)));
    if (file?.isFile() === false) throw new DatabaseError('damaged', `Expected ${name} to be a regular file`);
  }
}

/** LevelDB, also that of another process, deletes files that it has merged, at any time. */
export async function ignoreMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

/** What identifies the files of an open database: `CURRENT` is written when it is opened, and never again. */
async function identifyFiles(folder: string): Promise<string> {
  const { dev, ino } = await stat(join(folder, 'CURRENT'));
  return `${dev} ${ino}`;
}

/** Messages of LevelDB about files that belong to the database and are missing or cut off. */
const DAMAGE = /No such file or directory|Invalid argument/;
/** Codes of Node.js and messages of LevelDB about unusable folders, also on file systems without locks. */
const UNUSABLE_TEXTS: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOTDIR', 'a part of the path is a file'],
  ['EEXIST', 'a part of the path is a file'],
  ['ENOENT', 'its parent folder does not exist'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'its file system is read-only'],
  ['ELOOP', 'its links lead to each other'],
  ['ENAMETOOLONG', 'its name is too long'],
]);
const UNUSABLE =
  /(?:Not a directory|Permission denied|Operation not permitted|Read-only file system|No locks available|not supported|not implemented)$/;

/** Rejects with a {@link DatabaseError} only. */
export async function translateErrors<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const code = getErrorCode(cause);
    const message = UNUSABLE_TEXTS.get(code) ?? getErrorMessage(cause);
    throw new DatabaseError(classifyError(code, message), message, error);
  }
}

function classifyError(code: string | undefined, message: string): DatabaseErrorCode {
  if (UNUSABLE_TEXTS.has(code) || UNUSABLE.test(message)) return 'unusable';
  if (code === 'LEVEL_LOCKED') return 'locked';
  const isDamage = code === 'LEVEL_CORRUPTION' || (code === 'LEVEL_IO_ERROR' && DAMAGE.test(message));
  return isDamage ? 'damaged' : 'failing';
}
