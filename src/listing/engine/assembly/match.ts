import { areTextsEqual } from './hashing';
import { isMatch } from './host';
import { allocate, BLOCK } from './memory';
import { isAscii } from './strings';
import { ESCAPED, LENGTH_BITS } from './texts';

/** Longest text, in bytes, that is compared here. */
const MAX_MATCH_BYTES: u32 = 1024;

/** The text of a body that fields are compared with, as UTF-8. The host compares with a longer one. */
export const matchText = allocate(<usize>MAX_MATCH_BYTES + BLOCK);
let matchLength: u32 = 0;

export function setMatchLength(length: u32): void {
  matchLength = length;
}

/** Returns 1 if a text of the window is that text, else 2. */
export function compareWithMatch(text: usize, flagged: u32): u32 {
  if (flagged == matchLength && areTextsEqual(text, matchText, flagged)) return 1;
  const length = flagged & LENGTH_BITS;
  if (matchLength > 0 && (flagged & ESCAPED) == 0 && isAscii(text, length)) return 2;
  return isMatch(text, length) ? 1 : 2;
}
