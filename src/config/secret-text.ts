// Not in schemas.ts: the program reads files before it can load libraries, and says so if it has too few descriptors.
import { expectedFound } from './config-error.ts';

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
