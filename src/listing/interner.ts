import { lowBytes } from './words.ts';
import type { Scanner } from './scanner.ts';

const FIRST_SLOTS = 256;
const MAX_SLOTS = 8192;
/** Longer values are rare, and seldom come twice. */
const MAX_BYTES = 64;

/**
 * Strings by their bytes: a value that was seen before costs a comparison and no string. Most label values
 * of a listing are of this kind. Full at some thousands of values: whatever comes then is decoded each time.
 */
export class Interner {
  #slots = FIRST_SLOTS;
  #count = 0;
  #strings: (string | undefined)[] = emptySlots(FIRST_SLOTS);
  #hashes = new Int32Array(FIRST_SLOTS);
  #lengths = new Uint8Array(FIRST_SLOTS);
  #bytes = new Uint8Array(FIRST_SLOTS * MAX_BYTES);
  #view = new DataView(this.#bytes.buffer);

  /** The content of the scanner's last string, which it has hashed. */
  text(scanner: Scanner): string {
    const length = scanner.stringEnd - scanner.stringStart;
    if (length > MAX_BYTES || scanner.stringHasEscapes) return scanner.text();
    const mask = this.#slots - 1;
    // The upper half of the hash is the better mixed one.
    let slot = (scanner.stringHash >>> 16) & mask;
    for (;;) {
      const string = this.#strings[slot];
      if (string === undefined) return this.#insert(scanner, slot);
      if (this.#isAt(slot, scanner, length)) return string;
      slot = (slot + 1) & mask;
    }
  }

  #isAt(slot: number, scanner: Scanner, length: number): boolean {
    if (this.#hashes[slot] !== scanner.stringHash || this.#lengths[slot] !== length) return false;
    // Behind a stored string stand zeros, so that its last word needs no mask.
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

  #insert(scanner: Scanner, slot: number): string {
    const string = scanner.text();
    if (this.#count * 2 < this.#slots) {
      this.#put(
        slot,
        string,
        scanner.stringHash,
        scanner.window.subarray(scanner.stringStart, scanner.stringEnd),
      );
    } else if (this.#slots < MAX_SLOTS) {
      this.#grow();
      // Its slot is another one now; it finds it the next time.
    }
    return string;
  }

  #put(slot: number, string: string, hash: number, bytes: Uint8Array): void {
    this.#strings[slot] = string;
    this.#hashes[slot] = hash;
    this.#lengths[slot] = bytes.length;
    this.#bytes.set(bytes, slot * MAX_BYTES);
    this.#count += 1;
  }

  #grow(): void {
    const { strings, hashes, lengths, bytes } = {
      strings: this.#strings,
      hashes: this.#hashes,
      lengths: this.#lengths,
      bytes: this.#bytes,
    };
    this.#slots *= 2;
    this.#count = 0;
    this.#strings = emptySlots(this.#slots);
    this.#hashes = new Int32Array(this.#slots);
    this.#lengths = new Uint8Array(this.#slots);
    this.#bytes = new Uint8Array(this.#slots * MAX_BYTES);
    this.#view = new DataView(this.#bytes.buffer);
    for (const [old, string] of strings.entries()) {
      if (string === undefined) continue;
      const hash = hashes[old] ?? 0;
      let slot = (hash >>> 16) & (this.#slots - 1);
      while (this.#strings[slot] !== undefined) slot = (slot + 1) & (this.#slots - 1);
      const start = old * MAX_BYTES;
      this.#put(slot, string, hash, bytes.subarray(start, start + (lengths[old] ?? 0)));
    }
  }
}

function emptySlots(count: number): (string | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
