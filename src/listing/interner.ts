import type { Scanner } from './scanner.ts';
import { lowBytes } from './words.ts';

/** A power of two. */
const SLOTS = 1024;
/** A string stands in one of so many slots: whatever values are sent, finding one costs no more than this. */
const WAYS = 4;
/** Longer values are rare, and seldom come twice. */
const MAX_BYTES = 64;

/**
 * Strings by their bytes: a value that was seen lately costs a comparison and no string. Most label values of a
 * listing are of this kind. A cache, of one size: a new value takes the place of another one where there is none.
 */
export class Interner {
  readonly #strings: (string | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
  readonly #hashes = new Int32Array(SLOTS);
  readonly #lengths = new Uint8Array(SLOTS);
  /** Behind a string's bytes stand zeros, so that its last word needs no mask. */
  readonly #bytes = new Uint8Array(SLOTS * MAX_BYTES);
  readonly #view = new DataView(this.#bytes.buffer);

  /** The content of the scanner's last string, which it has hashed. */
  text(scanner: Scanner): string {
    const length = scanner.stringEnd - scanner.stringStart;
    if (length > MAX_BYTES || scanner.stringHasEscapes) return scanner.text();
    // The upper half of the hash is the better mixed one.
    const home = (scanner.stringHash >>> 16) & (SLOTS - 1);
    for (let way = 0; way < WAYS; way += 1) {
      const slot = (home + way) & (SLOTS - 1);
      const string = this.#strings[slot];
      if (string === undefined) return this.#put(slot, scanner);
      if (this.#isAt(slot, scanner, length)) return string;
    }
    return this.#put(home, scanner);
  }

  #isAt(slot: number, scanner: Scanner, length: number): boolean {
    if (this.#hashes[slot] !== scanner.stringHash || this.#lengths[slot] !== length) return false;
    const { view, stringStart } = scanner;
    const offset = slot * MAX_BYTES;
    const whole = length & ~3;
    for (let index = 0; index < whole; index += 4) {
      if (this.#view.getInt32(offset + index, true) !== view.getInt32(stringStart + index, true))
        return false;
    }
    const rest = view.getInt32(stringStart + whole, true) & lowBytes(length & 3);
    return (length & 3) === 0 || this.#view.getInt32(offset + whole, true) === rest;
  }

  #put(slot: number, scanner: Scanner): string {
    const string = scanner.text();
    const content = scanner.window.subarray(scanner.stringStart, scanner.stringEnd);
    const offset = slot * MAX_BYTES;
    this.#strings[slot] = string;
    this.#hashes[slot] = scanner.stringHash;
    this.#lengths[slot] = content.length;
    this.#bytes.fill(0, offset, offset + MAX_BYTES).set(content, offset);
    return string;
  }
}
