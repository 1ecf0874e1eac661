/*
 * Where a token could not be read. Functions that read a token return the address behind it, or 0 after `fail`.
 *
 * `PADDING` zero bytes follow the window, and no token contains a zero byte. So every loop stops there, and a failure at
 * the end of the window or beyond means only that the token continues in the next chunk.
 */

/** Number of zero bytes that follow the window. */
export const PADDING: usize = 64;

/** What was expected; the host has the words in the same order. */
export const enum Expected {
  VALUE = 0,
  COMMA_OR_BRACE = 1,
  COMMA_OR_BRACKET = 2,
  KEY = 3,
  COLON = 4,
  ESCAPED_CONTROL = 5,
  ESCAPE = 6,
  HEX_DIGITS = 7,
  NUMBER = 8,
  LITERAL = 9,
  END = 10,
  DEPTH = 11,
}

/** Address behind the last byte of the window. */
export let windowEnd: usize = 0;
export let failedAt: usize = 0;
export let expectation: u32 = 0;

export function setWindowEnd(end: usize): void {
  windowEnd = end;
}

export function fail(at: usize, expected: u32): usize {
  failedAt = at;
  expectation = expected;
  return 0;
}
