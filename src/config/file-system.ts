import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import PQueue from 'p-queue';
import { getErrorCode } from '../runtime/errors.ts';
import { createProblem, formatValue, type Problem } from './config-error.ts';

/** A list of 20,000 service codes with settings of their own has 4 MiB. */
const MAX_FILE_MIB = 4;
const MAX_FILE_BYTES = MAX_FILE_MIB * 1024 * 1024;
/** The code of the error for a FIFO, a device or a socket. */
const NOT_REGULAR = 'NOT_REGULAR';

export type ReadFile = (path: string) => Promise<string>;

/** The file system, as far as a configuration needs it. Each call rejects as `node:fs/promises` does. */
export interface ConfigFileSystem {
  readonly readFile: ReadFile;
  readonly listFolder: (path: string) => Promise<readonly string[]>;
  /** The path of a file without links. */
  readonly resolveLinks: (path: string) => Promise<string>;
  /** A text that changes when the file is written or replaced, also behind a link. */
  readonly readStamp: (path: string) => Promise<string>;
}

/** One call at a time: calls that hang, as on a network mount, must not take the threads that polls need. */
const calls = new PQueue({ concurrency: 1 });

/** The file system of this machine. A call that hangs delays all further ones, and nothing else. */
export const LOCAL_FILE_SYSTEM: ConfigFileSystem = {
  readFile: (path) => calls.add(() => readRegularFile(path)),
  listFolder: (path) => calls.add(() => fs.readdir(path)),
  resolveLinks: (path) => calls.add(() => fs.realpath(path)),
  readStamp: (path) => calls.add(() => readSizeAndTimes(path)),
};

async function readRegularFile(path: string): Promise<string> {
  // Without O_NONBLOCK, opening a FIFO waits for a writer.
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw createFileError(stats.isDirectory() ? 'EISDIR' : NOT_REGULAR, path);
    // A file may say that it is empty and have no end, or grow while it is read.
    const content = await buffer(file.createReadStream({ end: MAX_FILE_BYTES, autoClose: false }));
    if (content.length > MAX_FILE_BYTES) throw createFileError('EFBIG', path);
    return content.toString('utf8');
  } finally {
    await file.close();
  }
}

function createFileError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

/** Without the number of the file, which changes on some network mounts. */
async function readSizeAndTimes(path: string): Promise<string> {
  const { size, mtimeNs, ctimeNs } = await fs.stat(path, { bigint: true });
  return `${size} ${mtimeNs} ${ctimeNs}`;
}

const READ_ERROR_TEXTS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'which does not exist'],
  ['ENOTDIR', 'which does not exist'],
  ['EISDIR', 'which is a directory'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  [NOT_REGULAR, 'which is not a regular file'],
  ['EFBIG', `which is larger than ${MAX_FILE_MIB} MiB`],
]);

/** Describes a path that cannot be read, with the reason and, for a lack of permissions, the user. */
export function describeReadError(path: string, error: unknown): string {
  const text = READ_ERROR_TEXTS.get(readErrorCode(error)) ?? 'which cannot be read';
  const user = process.geteuid?.();
  const who = text === 'permission denied' && user !== undefined ? ` for user ${user}` : '';
  return `${path}, ${text}${who}`;
}

/** Whether a call failed because the path does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(readErrorCode(error));
}

export function readErrorCode(error: unknown): string {
  return getErrorCode(error) ?? 'unreadable';
}

/** A path, and where it was written. */
export interface FileReference {
  readonly path: string;
  readonly locate: () => string;
}

/** Without a folder, a relative path is one of the working directory. */
export function resolvePath(folder: string | undefined, path: string): string {
  return folder === undefined || isAbsolute(path) ? path : join(folder, path);
}

/** Reads the text of a file; a failure is a problem at the location of the reference. */
export async function readText(
  readFile: ReadFile,
  { path, locate }: FileReference,
  expectation = 'a readable file',
): Promise<string | Problem> {
  try {
    return await readFile(path);
  } catch (error) {
    const found = describeReadError(formatValue(resolve(path)), error);
    return createProblem(locate(), expectation, found);
  }
}
