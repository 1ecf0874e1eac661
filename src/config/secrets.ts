import { expectedFound, type Problem } from './config-error.ts';
import { readText, type FileReference, type ReadFile } from './file-system.ts';

/** A secret, the problem of reading it, or undefined if none is set. */
export type Secret = string | Problem | undefined;

/** Gives a secret, or reads its file; both together are a problem. */
export async function chooseSecret(
  secret: string | undefined,
  file: FileReference | undefined,
  locateSecret: () => string,
  readFile: ReadFile,
): Promise<Secret> {
  if (file === undefined) return secret;
  if (secret === undefined) return await readSecret(readFile, file);
  const found = `both; the secret is at ${locateSecret()}`;
  return { location: file.locate(), message: expectedFound('either a secret or a secret file', found) };
}

/** Reads a secret from a file, without one trailing newline. */
async function readSecret(readFile: ReadFile, file: FileReference): Promise<string | Problem> {
  const text = await readText(readFile, file, 'a readable file with a secret');
  if (typeof text !== 'string') return text;
  const secret = text.replace(/\r?\n$/, '');
  const message =
    secret === '' ? expectedFound('a file with a secret', 'an empty one') : describeSecretMistake(secret);
  return message === undefined ? secret : { location: file.locate(), message };
}

const MAX_SECRET_LENGTH = 4096;

/**
 * Describes what is wrong with a secret without showing it; `undefined` if nothing is. The service would reject each
 * request with such a secret as one with a wrong signature.
 */
export function describeSecretMistake(secret: string): string | undefined {
  const describe = (found: string, remedy: string): string =>
    expectedFound('a secret without blanks around it', found, remedy);
  if (secret.length > MAX_SECRET_LENGTH)
    return describe(`one of more than ${MAX_SECRET_LENGTH} characters`, 'check that this is the secret');
  if (/^\$\{[A-Za-z_]\w*\}$/.test(secret)) {
    const remedy = 'variables are not expanded: use XVS_SECRET or secret_file';
    return expectedFound('the secret itself', 'a reference to a variable', remedy);
  }
  if (secret.startsWith('\uFEFF'))
    return describe('one that starts with a byte order mark', 'save the file as UTF-8 without BOM');
  if (/[\uFFFD\0]/.test(secret)) return describe('one that is not UTF-8', 'save the file as UTF-8');
  if (/[\r\n]/.test(secret)) {
    const remedy =
      'keep one line with the secret alone; one line feed at the end of a secret file is ignored';
    return describe('one with a line feed', remedy);
  }
  return secret === secret.trim() ? undefined : describe('one with blanks around it', 'remove them');
}
