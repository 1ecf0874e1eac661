import { isAbsolute, join } from 'node:path';
import type { Problem } from './problem.ts';
import { mismatch, show } from './problem.ts';

/** Reads a text file (UTF-8); rejects as `node:fs/promises` does. */
export type ReadFile = (path: string) => Promise<string>;

/** The files of the machine, as far as a configuration needs them. Each call rejects as `node:fs/promises` does. */
export interface ConfigurationFiles {
  readonly readFile: ReadFile;
  /** The names of what a folder holds. */
  readonly listFolder: (path: string) => Promise<readonly string[]>;
  /** A text that is another one when the file, or the one that its links lead to now, is another or was written. */
  readonly stampOf: (path: string) => Promise<string>;
}

/** A path as it is written, and where. */
export interface FileReference {
  readonly path: string;
  readonly place: string;
  /** Folder that a relative path starts from; undefined for the working directory. */
  readonly folder: string | undefined;
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'which does not exist'],
  ['ENOTDIR', 'which does not exist'],
  ['EISDIR', 'which is a directory'],
  ['EACCES', 'which this user may not read'],
  ['EPERM', 'which this user may not read'],
]);

/** A path as it is written, seen from the folder that it is relative to, if it is. */
export function pathFrom(folder: string | undefined, path: string): string {
  return folder === undefined || isAbsolute(path) ? path : join(folder, path);
}

/** The file's text; or what is wrong with it. */
export async function readText(readFile: ReadFile, file: FileReference): Promise<string | Problem> {
  const resolved = pathFrom(file.folder, file.path);
  try {
    return await readFile(resolved);
  } catch (error) {
    return { place: file.place, message: mismatch('a readable file', unreadable(resolved, error)) };
  }
}

/** A path that cannot be read, as a message shows it, with the reason. */
export function unreadable(path: string, error: unknown): string {
  return `${show(path)}, ${REASONS.get(errorCode(error)) ?? 'which cannot be read'}`;
}

/** Whether a call failed because there is nothing at the path. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

/** The code of the error that a call of the file system ended in. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
}

/** The secret that a file holds, without one newline at its end. */
export async function readSecret(readFile: ReadFile, file: FileReference): Promise<string | Problem> {
  const text = await readText(readFile, file);
  if (typeof text !== 'string') return text;
  const secret = text.replace(/\r?\n$/, '');
  if (secret !== '') return secret;
  return {
    place: file.place,
    message: mismatch('a file that holds a secret', `${show(file.path)}, which is empty`),
  };
}

/** A PEM text of the given kind: `CERTIFICATE` or `PRIVATE KEY`. */
export async function readPem(
  readFile: ReadFile,
  file: FileReference,
  kind: 'CERTIFICATE' | 'PRIVATE KEY',
): Promise<string | Problem> {
  const text = await readText(readFile, file);
  if (typeof text !== 'string') return text;
  if (new RegExp(`^-----BEGIN (?:[A-Z]+ )?${kind}-----`, 'm').test(text)) return text;
  return {
    place: file.place,
    message: mismatch(`a PEM file with a ${kind}`, `${show(file.path)}, which has none`),
  };
}
