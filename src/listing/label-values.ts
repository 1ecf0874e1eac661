import type { LabelSet } from '../families/label-set.ts';

/** The value of a label whose field is missing or empty. */
export const UNKNOWN = 'unknown';
/** The value of a label that was folded. */
export const OTHER = '__other__';

/** The ids of `UNKNOWN` and `OTHER`, which the reader adds to its label values before all others. */
export const MISSING_ID = 0;
export const OTHER_ID = 1;

const MAX_CHARACTERS = 128;
const IS_PLAIN = /^[\x20-\x7e]{1,128}$/;
/** The longest name or key before NFC, in UTF-16 units: NFC makes one character of up to four. */
export const MAX_UNNORMALIZED_LENGTH = 4 * MAX_CHARACTERS;
/**
 * Finds more combining marks in a row than the stream-safe form has (UAX #15), which NFC would sort in
 * quadratic time. A match starts before a run, not at each of its marks, so that the search is linear.
 */
const LONG_RUN_OF_MARKS = /(?:^|\P{M})\p{M}{31}/u;
/** Format characters, such as U+202E and U+200B, reorder text or are invisible. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}]/gu;

/** Cleans a terminal's text: 1 to 128 characters, no control or format ones, no lone surrogates. */
export function sanitizeLabelValue(text: string | undefined): string {
  if (text === undefined || text === '') return UNKNOWN;
  if (IS_PLAIN.test(text)) return text;
  const cleaned = cleanText(text.slice(0, 4 * MAX_CHARACTERS));
  const cut = Array.from(cleaned).slice(0, MAX_CHARACTERS).join('');
  return cut === '' ? UNKNOWN : cut;
}

/** Removes control and format characters and lone surrogates. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll(CONTROL_CHARACTERS, '');
}

/** Whether a trimmed text can be a name or a key. NFC of another text could take seconds. */
export function canNormalize(text: string): boolean {
  return text.length <= MAX_UNNORMALIZED_LENGTH && !LONG_RUN_OF_MARKS.test(text);
}

/** Whether no value is missing or folded. */
export function isNamed(labels: LabelSet): boolean {
  return !labels.includes(UNKNOWN) && !labels.includes(OTHER);
}
