import { BACKSLASH, QUOTE, SPACE } from './json-bytes.ts';

/*
 * SIMD within a register: four bytes at a time, as a little-endian word. Three times as fast as byte by byte.
 */

/** Number of zero bytes that must follow a window, so that a word can be read at each of its bytes. */
export const WINDOW_PADDING = 4;

const EVERY_BYTE = 0x01010101;
const HIGH_BITS = 0x80808080;
/** 2³² over the golden ratio, as in Fibonacci hashing. */
const HASH_FACTOR = 0x9e3779b1;

/**
 * Marks the special bytes of a word (quote, backslash, control character) by their high bit.
 *
 * Subtracting 1 from a zero byte, or 32 from a control character, borrows into the high bit. Bytes from 128 on
 * have that bit set already and are masked out. Only the lowest mark is reliable: a borrow disturbs higher bytes.
 */
export function markSpecialBytes(word: number): number {
  const isQuote = (word ^ (QUOTE * EVERY_BYTE)) - EVERY_BYTE;
  const isBackslash = (word ^ (BACKSLASH * EVERY_BYTE)) - EVERY_BYTE;
  const isControl = word - SPACE * EVERY_BYTE;
  return (isQuote | isBackslash | isControl) & ~word & HIGH_BITS;
}

/** Returns the index, 0 to 3, of the lowest byte that `markSpecialBytes` has marked. */
export function findFirstMark(marks: number): number {
  return (31 - Math.clz32(marks & -marks)) >> 3;
}

/** Returns the position of the first special byte from `position` on. There must be one: the padding counts. */
export function findSpecialByte(view: DataView, position: number): number {
  let wordPosition = position;
  let marks = markSpecialBytes(view.getInt32(wordPosition, true));
  while (marks === 0) {
    wordPosition += 4;
    marks = markSpecialBytes(view.getInt32(wordPosition, true));
  }
  return wordPosition + findFirstMark(marks);
}

/** Returns a mask for the lowest `count` bytes of a word, 0 to 3. */
export function createLowBytesMask(count: number): number {
  return (1 << (count << 3)) - 1;
}

/** Adds a word to a multiplicative hash. */
export function hashWord(hash: number, word: number): number {
  return Math.imul(hash ^ word, HASH_FACTOR);
}
