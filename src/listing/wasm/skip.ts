import { Expected, fail } from './failure';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes';
import { allocate, readByte, writeByte } from './memory';
import { isNumberStart, readNumber, skipLiteral } from './numbers';
import { skipEscape, skipPlain, skipSpace, skipString } from './strings';

/*
 * Skips one value of any size and checks its syntax without keeping it. Resumable: after a failure at the end of the
 * window, the next window must begin at `resumeAt`. Only a short token is read twice, never a whole string.
 */

/** Bounds the memory that nesting can claim. */
const MAX_DEPTH: u32 = 1 << 20;

/** A bit for each level: whether it is an object. */
const isObjectBits: usize = allocate(MAX_DEPTH >> 3);
let depth: u32 = 0;

const enum Next {
  VALUE = 0,
  FIRST_VALUE = 1,
  KEY = 2,
  FIRST_KEY = 3,
  COLON = 4,
  COMMA_OR_END = 5,
  VALUE_STRING = 6,
  KEY_STRING = 7,
}

let next: u32 = Next.VALUE;
export let resumeAt: usize = 0;

/** Starts a new value. */
export function beginSkip(): void {
  next = Next.VALUE;
  depth = 0;
}

/** Skips a value within a record. */
export function skipValue(at: usize): usize {
  const first = readByte(at);
  if (first == QUOTE) return skipString(at);
  if (isNumberStart(first)) return readNumber(at, false);
  beginSkip();
  return skip(at, false);
}

/** Skips to the end of the value; `isLast` if the body ends with the window. */
export function skip(from: usize, isLast: bool): usize {
  let at = from;
  do {
    resumeAt = at;
    at = skipToken(at, isLast);
    if (at == 0) return 0;
  } while (next != Next.COMMA_OR_END || depth != 0);
  return at;
}

function skipToken(from: usize, isLast: bool): usize {
  if (next == Next.VALUE_STRING || next == Next.KEY_STRING) return skipRestOfString(from);
  const at = skipSpace(from);
  const byte = readByte(at);
  switch (next) {
    case Next.FIRST_VALUE:
      return byte == CLOSE_BRACKET ? close(at) : skipStartOfValue(at, byte, isLast);
    case Next.VALUE:
      return skipStartOfValue(at, byte, isLast);
    case Next.FIRST_KEY:
      return byte == CLOSE_BRACE ? close(at) : skipKeyQuote(at, byte);
    case Next.KEY:
      return skipKeyQuote(at, byte);
    case Next.COLON:
      return byte == COLON ? proceed(Next.VALUE, at + 1) : fail(at, Expected.COLON);
    default:
      return skipCommaOrEnd(at, byte);
  }
}

function proceed(to: u32, at: usize): usize {
  next = to;
  return at;
}

function skipStartOfValue(at: usize, byte: u32, isLast: bool): usize {
  if (byte == QUOTE) return proceed(Next.VALUE_STRING, at + 1);
  if (byte == OPEN_BRACE || byte == OPEN_BRACKET) return open(at, byte == OPEN_BRACE);
  const end = isNumberStart(byte) ? readNumber(at, isLast) : skipLiteral(at);
  return end == 0 ? 0 : proceed(Next.COMMA_OR_END, end);
}

function skipKeyQuote(at: usize, byte: u32): usize {
  return byte == QUOTE ? proceed(Next.KEY_STRING, at + 1) : fail(at, Expected.KEY);
}

function skipCommaOrEnd(at: usize, byte: u32): usize {
  const isObject = isWithinObject();
  if (byte == (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return close(at);
  if (byte != COMMA) return fail(at, isObject ? Expected.COMMA_OR_BRACE : Expected.COMMA_OR_BRACKET);
  return proceed(isObject ? Next.KEY : Next.VALUE, at + 1);
}

/** Skips to the closing quote, or over one escape. */
function skipRestOfString(from: usize): usize {
  const at = skipPlain(from);
  resumeAt = at;
  const byte = readByte(at);
  if (byte == BACKSLASH) return skipEscape(at);
  if (byte != QUOTE) return fail(at, Expected.ESCAPED_CONTROL);
  return proceed(next == Next.KEY_STRING ? Next.COLON : Next.COMMA_OR_END, at + 1);
}

function open(at: usize, isObject: bool): usize {
  if (depth == MAX_DEPTH) return fail(at, Expected.DEPTH);
  const byte = isObjectBits + (depth >>> 3);
  const bit: u32 = 1 << (depth & 7);
  writeByte(byte, isObject ? readByte(byte) | bit : readByte(byte) & ~bit);
  depth += 1;
  return proceed(isObject ? Next.FIRST_KEY : Next.FIRST_VALUE, at + 1);
}

function close(at: usize): usize {
  depth -= 1;
  return proceed(Next.COMMA_OR_END, at + 1);
}

function isWithinObject(): bool {
  const level = depth - 1;
  return ((readByte(isObjectBits + (level >>> 3)) >>> (level & 7)) & 1) != 0;
}
