import { Expected, fail, windowEnd } from './failure';
import { LETTER_E, LETTER_F, LETTER_N, LETTER_T, LOWER_CASE, MINUS, PLUS, POINT, ZERO } from './json-bytes';
import { parseNumber } from './host';
import { readByte } from './memory';

/** Integers of up to 15 digits are exact in a double. */
const MAX_EXACT_DIGITS: usize = 15;

/** Value of the last number. */
export let numberValue: f64 = 0;
/** Whether its token is the decimal digits of its value. */
export let isPlainNumber: bool = false;

export function isNumberStart(byte: u32): bool {
  return byte - ZERO < 10 || byte == MINUS;
}

/** Whether a number token can continue with this byte. */
function isNumberByte(byte: u32): bool {
  return byte - ZERO < 10 || byte == PLUS || byte == MINUS || byte == POINT || (byte | LOWER_CASE) == LETTER_E;
}

/** Reads a number. It ends at the next byte or, if `isLast`, with the window. */
export function readNumber(start: usize, isLast: bool): usize {
  let at = start;
  let value: u64 = 0;
  let digit = readByte(at) - ZERO;
  while (digit < 10) {
    value = value * 10 + digit;
    at += 1;
    digit = readByte(at) - ZERO;
  }
  const digits = at - start;
  const isPlain = digits - 1 < MAX_EXACT_DIGITS && (digits == 1 || readByte(start) != ZERO);
  if (!isPlain || at == windowEnd || isNumberByte(readByte(at))) return readAnyNumber(start, isLast);
  numberValue = <f64>value;
  isPlainNumber = true;
  return at;
}

/** Reads any number that is not an integer of up to 15 digits. */
function readAnyNumber(start: usize, isLast: bool): usize {
  let end = start;
  while (isNumberByte(readByte(end))) end += 1;
  if (end == windowEnd && !isLast) return fail(end, Expected.NUMBER);
  if (!isNumber(start, end)) return fail(start, Expected.NUMBER);
  numberValue = parseNumber(start, <u32>(end - start));
  isPlainNumber = false;
  return end;
}

/** Checks a whole token against the grammar: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`. */
function isNumber(start: usize, end: usize): bool {
  const whole = readByte(start) == MINUS ? start + 1 : start;
  let at = skipDigits(whole);
  if (at == whole || (at > whole + 1 && readByte(whole) == ZERO)) return false;
  if (readByte(at) == POINT) {
    const fraction = at + 1;
    at = skipDigits(fraction);
    if (at == fraction) return false;
  }
  if ((readByte(at) | LOWER_CASE) == LETTER_E) {
    let exponent = at + 1;
    if (readByte(exponent) == MINUS || readByte(exponent) == PLUS) exponent += 1;
    at = skipDigits(exponent);
    if (at == exponent) return false;
  }
  return at == end;
}

function skipDigits(from: usize): usize {
  let at = from;
  while (readByte(at) - ZERO < 10) at += 1;
  return at;
}

/** `true`, `fals`, `null` as little-endian words. */
const TRUE: u32 = 0x65757274;
const FALS: u32 = 0x736c6166;
const NULL: u32 = 0x6c6c756e;

/** Skips `true`, `false` or `null`. */
export function skipLiteral(at: usize): usize {
  const first = readByte(at);
  if (first == LETTER_T) return skipWord(at, TRUE);
  if (first == LETTER_N) return skipWord(at, NULL);
  if (first != LETTER_F) return fail(at, Expected.VALUE);
  const end = skipWord(at, FALS);
  if (end == 0) return 0;
  return readByte(end) == LETTER_E ? end + 1 : fail(end, Expected.LITERAL);
}

function skipWord(at: usize, word: u32): usize {
  for (let letter: usize = 1; letter < 4; letter += 1) {
    if (readByte(at + letter) != ((word >>> <u32>(letter << 3)) & 0xff)) return fail(at + letter, Expected.LITERAL);
  }
  return at + 4;
}
