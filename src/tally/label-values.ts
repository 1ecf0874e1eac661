/** What a missing or empty value is called. */
export const UNKNOWN = 'unknown';
/** What label sets are folded into; a listing cannot claim it for itself. */
export const OTHER = '__other__';

const MAX_CHARACTERS = 128;
const IS_PLAIN = /^[\x20-\x7e]{1,128}$/;
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/**
 * Makes a label value of a text that an end user's terminal may have written: no control characters, no lone
 * surrogates, at most 128 characters, never empty.
 */
export function labelValue(text: string | undefined): string {
  if (text === undefined || text === '') return UNKNOWN;
  if (IS_PLAIN.test(text)) return text;
  const cleaned = text
    .slice(0, 4 * MAX_CHARACTERS)
    .toWellFormed()
    .replaceAll(CONTROL_CHARACTERS, '');
  const cut = Array.from(cleaned).slice(0, MAX_CHARACTERS).join('');
  return cut === '' ? UNKNOWN : cut;
}
