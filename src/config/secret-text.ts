// Not in schemas.ts: the program reads files before it can load libraries, and says so if it has too few descriptors.
import { expectedFound } from './config-error.ts';

const MAX_SECRET_LENGTH = 4096;

const MISTAKES: readonly {
  readonly isMatch: (text: string) => boolean;
  readonly found: string;
  readonly remedy: string;
}[] = [
  {
    isMatch: (text) => text.length > MAX_SECRET_LENGTH,
    found: `one of more than ${MAX_SECRET_LENGTH} characters`,
    remedy: 'check that this is the secret',
  },
  {
    isMatch: (text) => text.startsWith('\uFEFF'),
    found: 'one that starts with a byte order mark',
    remedy: 'save the file as UTF-8 without BOM',
  },
  {
    isMatch: (text) => /[\uFFFD\0]/.test(text),
    found: 'one that is not UTF-8',
    remedy: 'save the file as UTF-8',
  },
  {
    isMatch: (text) => /[\r\n]/.test(text),
    found: 'one with a line feed',
    remedy: 'keep one line with the secret alone; one line feed at the end of a secret file is ignored',
  },
  {
    isMatch: (text) => text !== text.trim(),
    found: 'one with blanks around it',
    remedy: 'remove them',
  },
];

/**
 * Describes what is wrong with a secret without showing it; `undefined` if nothing is. The service would reject each
 * request with such a secret as one with a wrong signature.
 */
export function describeSecretMistake(secret: string): string | undefined {
  const mistake = MISTAKES.find(({ isMatch }) => isMatch(secret));
  return mistake && expectedFound('a secret without blanks around it', mistake.found, mistake.remedy);
}
