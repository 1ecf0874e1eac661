import { isAbsolute, join } from 'node:path';
import type { Problem } from './problem.ts';
import { mismatch, show } from './problem.ts';

/** Reads a text file (UTF-8); rejects as `node:fs/promises` does. */
export type ReadFile = (path: string) => Promise<string>;

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
  const { path, folder, place } = file;
  const resolved = pathFrom(folder, path);
  try {
    return await readFile(resolved);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason = REASONS.get(code) ?? 'which cannot be read';
    return { place, message: mismatch('a readable file', `${show(resolved)}, ${reason}`) };
  }
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
