import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { getErrorCode } from '../runtime/errors.ts';
import { expectedFound, formatValue, type Problem } from './config-error.ts';

/** Files with thousands of service codes have a few MiB. */
export const MAX_FILE_MIB = 64;
/** The code of the error for a FIFO, a device or a socket. */
export const NOT_REGULAR = 'NOT_REGULAR';

/** Creates the error for a file that must not be read, or could not be read in time; `code` as in errors of `node:fs`. */
export function createFileError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

/**
 * Reads a text file (UTF-8); rejects as `node:fs/promises` does, with `NOT_REGULAR` or `EFBIG` for files that no
 * configuration consists of, and with `ETIMEDOUT` if the file system does not answer.
 */
export type ReadFile = (path: string) => Promise<string>;

/** The file system, as far as a configuration needs it. Each call rejects as `node:fs/promises` does. */
export interface ConfigFileSystem {
  readonly readFile: ReadFile;
  /** Lists the names in a folder. */
  readonly listFolder: (path: string) => Promise<readonly string[]>;
  /** A text that changes when the file is written or replaced, or when a link to it leads to another file. */
  readonly readStamp: (path: string) => Promise<string>;
}

/** A path as it was written, and where. */
export interface FileReference {
  readonly path: string;
  readonly locate: () => string;
  /** Folder for a relative path; undefined for the working directory. */
  readonly folder: string | undefined;
}

/** Resolves a path against the folder that it is relative to. */
export function resolvePath(folder: string | undefined, path: string): string {
  return folder === undefined || isAbsolute(path) ? path : join(folder, path);
}

const READ_ERROR_TEXTS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'which does not exist'],
  ['ENOTDIR', 'which does not exist'],
  ['EISDIR', 'which is a directory'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  [NOT_REGULAR, 'which is not a regular file'],
  ['EFBIG', `which is larger than ${MAX_FILE_MIB} MiB`],
  ['ETIMEDOUT', 'which could not be read in time; check the mount that it is on'],
]);

/** Describes a path that cannot be read, with the reason and, if it is a lack of permissions, the user that tried. */
export function describeReadError(path: string, error: unknown): string {
  const code = readErrorCode(error);
  const text = READ_ERROR_TEXTS.get(code) ?? 'which cannot be read';
  const user = process.geteuid?.();
  const who = text === 'permission denied' && user !== undefined ? ` for user ${user}` : '';
  return `${path}, ${text}${who}`;
}

/** Whether a call failed because the path does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(readErrorCode(error));
}

/** The `code` of a file system error. */
export function readErrorCode(error: unknown): string {
  return getErrorCode(error) ?? 'unreadable';
}

/** Reads the text of a file; a failure is a problem at the location of the reference. */
export async function readText(
  readFile: ReadFile,
  { path, locate, folder }: FileReference,
  expectation = 'a readable file',
): Promise<string | Problem> {
  try {
    return await readFile(resolvePath(folder, path));
  } catch (error) {
    const base = resolve(folder ?? '');
    const message = expectedFound(expectation, describeReadError(formatValue(resolve(base, path)), error));
    return { location: locate(), message };
  }
}

/** Reads a PEM file that contains an item of the given kind. */
export async function readPem(
  readFile: ReadFile,
  file: FileReference,
  kind: 'CERTIFICATE' | 'PRIVATE KEY',
): Promise<string | Problem> {
  const text = await readText(readFile, file);
  if (typeof text !== 'string') return text;
  if (new RegExp(`^-----BEGIN (?:[A-Z]+ )?${kind}-----`, 'm').test(text)) return text;
  return {
    location: file.locate(),
    message: expectedFound(`a PEM file with a ${kind}`, `${formatValue(file.path)}, which contains none`),
  };
}

/** OpenSSL's codes for a valid key of a different certificate. */
const KEY_MISMATCH_CODES: readonly string[] = [
  'ERR_OSSL_X509_KEY_VALUES_MISMATCH',
  'ERR_OSSL_X509_KEY_TYPE_MISMATCH',
];

/** Checks that TLS can use a certificate with its key (PEM). Messages have OpenSSL's codes; its texts could quote the key. */
export function findKeyPairMistake(
  cert: string,
  key: string,
): { readonly part: 'cert' | 'key'; readonly message: string } | undefined {
  const certCode = findTlsError({ cert });
  if (certCode !== undefined)
    return { part: 'cert', message: expectedFound('a certificate (PEM)', `an invalid one (${certCode})`) };
  const keyCode = findTlsError({ cert, key });
  if (keyCode === undefined) return undefined;
  const isOther = KEY_MISMATCH_CODES.includes(keyCode);
  const found = isOther ? 'the key of a different certificate' : `an invalid one (${keyCode})`;
  return { part: 'key', message: expectedFound('the unencrypted key of the certificate', found) };
}

function findTlsError(options: SecureContextOptions): string | undefined {
  try {
    createSecureContext(options);
    return undefined;
  } catch (error) {
    return readErrorCode(error);
  }
}

/**
 * Lists the files that match a path, sorted by name. A path without `*` matches itself, whether or not it exists;
 * a leading `*` skips dot files, which editors and Kubernetes hide. A missing folder has no files. (`fs.glob` needs
 * Node.js 22.)
 */
export async function findMatchingFiles(
  glob: string,
  listFolder: ConfigFileSystem['listFolder'],
): Promise<readonly string[]> {
  const pattern = basename(glob);
  if (!pattern.includes('*')) return [glob];
  const folder = dirname(glob);
  const wildcard = compileWildcard(pattern);
  const names = await listFolder(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return names
    .filter((name) => wildcard.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

function compileWildcard(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.startsWith('*') ? String.raw`(?!\.)` : ''}${parts.join('.*')}$`, 's');
}
