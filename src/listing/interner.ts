import { QUOTE } from './bytes.ts';
import type { Scanner } from './scanner.ts';
import { firstStop, hashWord, lowBytes, stopsIn } from './words.ts';

/** A power of two. */
const SLOTS = 1024;
/** A string stands in one of so many slots: whatever values are sent, finding one costs no more than this. */
const WAYS = 4;
/** Longer values are rare, and seldom come twice. */
const MAX_BYTES = 63;
/** Room for as many bytes, and a 0 behind them. */
const WORDS = 16;

/**
 * Strings by their bytes: a value that was seen lately costs a comparison and no string. Most label values of a
 * listing are of this kind. A cache, of one size: a new value takes the place of another one where there is none.
 */
export class Interner {
  readonly #strings: (string | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
  /** The bytes of each string, four to a word. Behind them stand zeros, which no string of JSON contains. */
  readonly #words = new Int32Array(SLOTS * WORDS);

  /** Reads a string, from its opening quote on; its content. */
  read(scanner: Scanner): string {
    const { view } = scanner;
    const start = scanner.position + 1;
    let position = start;
    let hash = 0;
    let word = view.getInt32(position, true);
    let stops = stopsIn(word);
    while (stops === 0) {
      hash = hashWord(hash, word);
      position += 4;
      word = view.getInt32(position, true);
      stops = stopsIn(word);
    }
    const end = position + firstStop(stops);
    if (end - start > MAX_BYTES || view.getUint8(end) !== QUOTE) return scanner.string();
    const tail = word & lowBytes(end - position);
    // The upper half of the hash is the better mixed one.
    const home = hashWord(hash, tail) >>> 16;
    for (let way = 0; way < WAYS; way += 1) {
      const slot = (home + way) & (SLOTS - 1);
      const string = this.#strings[slot];
      if (string === undefined) return this.#put(slot, scanner);
      if (this.#isAt(slot, view, start, end, tail)) {
        scanner.position = end + 1;
        return string;
      }
    }
    return this.#put(home & (SLOTS - 1), scanner);
  }

  /** Equal words and an equal rest mean equal lengths too: a longer string has more than zeros there. */
  #isAt(slot: number, view: DataView, start: number, end: number, tail: number): boolean {
    const words = this.#words;
    let index = slot * WORDS;
    for (let position = start; position + 4 <= end; position += 4) {
      if (words[index] !== view.getInt32(position, true)) return false;
      index += 1;
    }
    return words[index] === tail;
  }

  #put(slot: number, scanner: Scanner): string {
    const { view } = scanner;
    let position = scanner.position + 1;
    const string = scanner.string();
    const end = scanner.position - 1;
    let index = slot * WORDS;
    this.#words.fill(0, index, index + WORDS);
    for (; position + 4 <= end; position += 4) {
      this.#words[index] = view.getInt32(position, true);
      index += 1;
    }
    this.#words[index] = view.getInt32(position, true) & lowBytes(end - position);
    this.#strings[slot] = string;
    return string;
  }
}
