import { Expected, fail } from './failure';
import {
  BACKSLASH,
  CARRIAGE_RETURN,
  LETTER_B,
  LETTER_F,
  LETTER_N,
  LETTER_R,
  LETTER_T,
  LETTER_U,
  LINE_FEED,
  LOWER_CASE,
  QUOTE,
  SLASH,
  SPACE,
  TAB,
  ZERO,
} from './json-bytes';
import { readBlock, readByte } from './memory';

/** Skips white space. */
export function skipSpace(at: usize): usize {
  return readByte(at) > SPACE ? at : skipSpaces(at);
}

function skipSpaces(from: usize): usize {
  let at = from;
  while (true) {
    const byte = readByte(at);
    if (byte != SPACE && byte != LINE_FEED && byte != CARRIAGE_RETURN && byte != TAB) return at;
    at += 1;
  }
}

/** Returns a bit for each of 16 bytes that ends the plain part of a string: quote, backslash, control character. */
function findSpecialBytes(at: usize): u32 {
  const bytes = readBlock(at);
  const isQuote = i8x16.eq(bytes, i8x16.splat(0x22));
  const isBackslash = i8x16.eq(bytes, i8x16.splat(0x5c));
  const isControl = i8x16.le_u(bytes, i8x16.splat(0x1f));
  return i8x16.bitmask(v128.or(v128.or(isQuote, isBackslash), isControl));
}

/** Skips the plain part of a string. */
export function skipPlain(from: usize): usize {
  let at = from;
  let special = findSpecialBytes(at);
  while (special == 0) {
    at += 16;
    special = findSpecialBytes(at);
  }
  return at + ctz(special);
}

/** Returns the address of a string's closing quote; `at` is a byte that ended its plain part. */
export function findClosingQuote(from: usize): usize {
  let at = from;
  while (true) {
    const byte = readByte(at);
    if (byte == QUOTE) return at;
    if (byte != BACKSLASH) return fail(at, Expected.ESCAPED_CONTROL);
    at = skipEscape(at);
    if (at == 0) return 0;
    at = skipPlain(at);
  }
}

/** Skips a string; `at` is its opening quote. */
export function skipString(at: usize): usize {
  const quote = findClosingQuote(skipPlain(at + 1));
  return quote == 0 ? 0 : quote + 1;
}

/** Skips an escape; `at` is its backslash. */
export function skipEscape(at: usize): usize {
  const letter = readByte(at + 1);
  if (letter == LETTER_U) {
    for (let digit: usize = 2; digit < 6; digit += 1) {
      if (!isHexDigit(readByte(at + digit))) return fail(at + digit, Expected.HEX_DIGITS);
    }
    return at + 6;
  }
  const isEscape =
    letter == QUOTE ||
    letter == BACKSLASH ||
    letter == SLASH ||
    letter == LETTER_B ||
    letter == LETTER_F ||
    letter == LETTER_N ||
    letter == LETTER_R ||
    letter == LETTER_T;
  return isEscape ? at + 2 : fail(at + 1, Expected.ESCAPE);
}

function isHexDigit(byte: u32): bool {
  return byte - ZERO < 10 || (byte | LOWER_CASE) - 0x61 < 6;
}

/** Whether a text has no byte above 127. */
export function isAscii(text: usize, length: u32): bool {
  let high: u32 = 0;
  let at: u32 = 0;
  for (; at + 16 <= length; at += 16) high |= i8x16.bitmask(readBlock(text + at));
  const rest = i8x16.bitmask(readBlock(text + at)) & ((1 << (length - at)) - 1);
  return (high | rest) == 0;
}
