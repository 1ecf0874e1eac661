import { COLON, QUOTE } from './bytes.ts';
import { lowBytes, WINDOW_PADDING } from './words.ts';
import type { Scanner } from './scanner.ts';

/** Stands for a key that is not in the table. */
export const UNKNOWN_KEY = -1;

/**
 * Tells the keys of one kind of object apart. A service writes the members of its records in one order: the key
 * that followed the last time is compared first, byte for byte, and only another one is looked up.
 */
export class KeyTable {
  readonly #keys: readonly KeyBytes[];
  readonly #indexes: ReadonlyMap<string, number>;
  /** By the index of a key plus one: the index that followed it the last time. */
  readonly #followers: Int32Array;
  #last = UNKNOWN_KEY;

  constructor(names: readonly string[]) {
    this.#keys = names.map(keyBytes);
    this.#indexes = new Map(names.map((name, index) => [name, index]));
    this.#followers = Int32Array.from({ length: names.length + 1 }, (_, index) => index % names.length);
  }

  /** An object begins. */
  begin(): void {
    this.#last = UNKNOWN_KEY;
  }

  /** Reads a key and the colon behind it; the key's index. */
  read(scanner: Scanner): number {
    if (scanner.peek() !== QUOTE) scanner.fail('a key in quotes');
    const expected = this.#followers[this.#last + 1] ?? 0;
    const key = this.#keys[expected];
    if (key !== undefined && startsWith(scanner, key)) {
      scanner.position += 1 + key.length;
      this.#last = expected;
      return expected;
    }
    return this.#lookUp(scanner);
  }

  #lookUp(scanner: Scanner): number {
    scanner.string();
    const index = this.#indexes.get(scanner.text()) ?? UNKNOWN_KEY;
    scanner.expect(COLON, '":" after a key');
    if (index !== UNKNOWN_KEY) {
      this.#followers[this.#last + 1] = index;
      this.#last = index;
    }
    return index;
  }
}

/** The bytes between a key's opening quote and its value: the key, the quote, the colon. */
interface KeyBytes {
  readonly length: number;
  /** Four bytes each; the last ones that make no four are in `tail`. */
  readonly words: Int32Array;
  readonly tail: number;
  readonly tailMask: number;
}

function keyBytes(name: string): KeyBytes {
  const bytes = new TextEncoder().encode(`${name}":`);
  const padded = new DataView(new ArrayBuffer(bytes.length + WINDOW_PADDING));
  for (const [index, byte] of bytes.entries()) padded.setUint8(index, byte);
  const whole = bytes.length >> 2;
  return {
    length: bytes.length,
    words: Int32Array.from({ length: whole }, (_, index) => padded.getInt32(4 * index, true)),
    tail: padded.getInt32(4 * whole, true),
    tailMask: lowBytes(bytes.length & 3),
  };
}

/** Whether the bytes behind the scanner's quote are those of the key. The 0 behind the window differ from any. */
function startsWith(scanner: Scanner, { length, words, tail, tailMask }: KeyBytes): boolean {
  const { view } = scanner;
  let position = scanner.position + 1;
  if (position + length > scanner.end) return false;
  for (let index = 0; index < words.length; index += 1) {
    if (view.getInt32(position, true) !== words[index]) return false;
    position += 4;
  }
  return (view.getInt32(position, true) & tailMask) === tail;
}
