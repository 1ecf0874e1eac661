import { QUOTE } from './json-bytes.ts';
import type { Scanner } from './scanner.ts';
import { findFirstMark, hashWord, createLowBytesMask, markSpecialBytes } from './swar.ts';

/** Must be a power of two. */
const SLOTS = 1024;
/** Slots that one hash can select, which bounds the cost of a lookup for any input. */
const WAYS = 4;
/** Longer strings are rare and seldom repeat. */
const MAX_STRING_BYTES = 63;
/** Words of four bytes; the last byte of a slot is always 0. */
const WORDS_PER_SLOT = 16;

/**
 * A set-associative cache of strings by their bytes. A listing repeats most of its label values; a cached one
 * costs a comparison and creates no string. The size is fixed: a new string evicts another when its slots are full.
 */
export class Interner {
  readonly #strings: (string | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
  /** The bytes of each string, four to a word, padded with zero bytes, which no JSON string contains. */
  readonly #words = new Int32Array(SLOTS * WORDS_PER_SLOT);

  /** Reads a string; the scanner is at its opening quote. */
  read(scanner: Scanner): string {
    const { view } = scanner;
    const start = scanner.position + 1;
    let position = start;
    let hash = 0;
    let word = view.getInt32(position, true);
    let marks = markSpecialBytes(word);
    while (marks === 0) {
      hash = hashWord(hash, word);
      position += 4;
      word = view.getInt32(position, true);
      marks = markSpecialBytes(word);
    }
    const end = position + findFirstMark(marks);
    if (end - start > MAX_STRING_BYTES || view.getUint8(end) !== QUOTE) return scanner.readString();
    const tail = word & createLowBytesMask(end - position);
    // The upper half of a multiplicative hash is mixed better.
    const firstSlot = hashWord(hash, tail) >>> 16;
    for (let way = 0; way < WAYS; way += 1) {
      const slot = (firstSlot + way) & (SLOTS - 1);
      const string = this.#strings[slot];
      if (string === undefined) return this.#put(slot, scanner);
      if (this.#matches(slot, view, start, end, tail)) {
        scanner.position = end + 1;
        return string;
      }
    }
    return this.#put(firstSlot & (SLOTS - 1), scanner);
  }

  /** Equal words and an equal tail imply equal lengths, because the padding is zero. */
  #matches(slot: number, view: DataView, start: number, end: number, tail: number): boolean {
    const words = this.#words;
    let index = slot * WORDS_PER_SLOT;
    for (let position = start; position + 4 <= end; position += 4) {
      if (words[index] !== view.getInt32(position, true)) return false;
      index += 1;
    }
    return words[index] === tail;
  }

  #put(slot: number, scanner: Scanner): string {
    const { view } = scanner;
    let position = scanner.position + 1;
    const string = scanner.readString();
    const end = scanner.position - 1;
    let index = slot * WORDS_PER_SLOT;
    this.#words.fill(0, index, index + WORDS_PER_SLOT);
    for (; position + 4 <= end; position += 4) {
      this.#words[index] = view.getInt32(position, true);
      index += 1;
    }
    this.#words[index] = view.getInt32(position, true) & createLowBytesMask(end - position);
    this.#strings[slot] = string;
    return string;
  }
}
