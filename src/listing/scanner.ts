import { LETTER_U, MINUS, NINE, QUOTE, SPACE, ZERO } from './bytes.ts';
import { ListingError } from './errors.ts';
import { plainEnd } from './words.ts';

/** Thrown where the bytes end before the token does: the caller rewinds and waits for more of them. */
export const OUT_OF_BYTES: unique symbol = Symbol('out of bytes');

const IS_WHITE_SPACE = byteSet(' \t\n\r');
const IS_HEX_DIGIT = byteSet('0123456789abcdefABCDEF');
const IS_ESCAPE = byteSet('"\\/bfnrt');
/** What a number may go on with, valid or not: the grammar is checked on the whole token. */
const IS_NUMBER_BYTE = byteSet('0123456789+-.eE');
const NUMBER_GRAMMAR = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Integers of so many digits are exact in a double … */
const MAX_EXACT_DIGITS = 15;
/** … and of so many in a signed integer of 32 bits, which is faster. */
const MAX_DIGITS_OF_32_BITS = 9;

const LITERALS: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), new TextEncoder().encode(word)]),
);

function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) set[byte] = 1;
  return set;
}

/** A byte of a window. The index is known to be within it; the default only tells the compiler. */
function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

/**
 * The tokens of JSON (RFC 8259) in a window of bytes. Each method reads one token from `position` on and
 * leaves `position` behind it; throws `OUT_OF_BYTES` where the window ends too early, and a `ListingError`
 * with the absolute byte where the text is not JSON.
 *
 * Behind the window's bytes stand some 0, which no token of JSON can contain: every loop stops there by itself,
 * and only then asks whether the window ended or the text is wrong.
 */
export class Scanner {
  position = 0;
  /** Where the bytes of the window end, and the 0 begin. */
  end = 0;
  /** The bytes. A plain array, as all that `byteAt` is used on: two kinds of array would make it twice as slow. */
  window = new Uint8Array(1);
  /** The same memory, to read four bytes at a time. */
  view = new DataView(this.window.buffer);
  /** The same memory, to decode strings from. */
  #buffer = Buffer.alloc(0);
  /** Offset of the window's first byte from the start of the body. */
  #windowOffset = 0;

  /** Offset of `position` from the start of the body. */
  get offset(): number {
    return this.#windowOffset + this.position;
  }

  /** Takes a new window: behind `end`, `WINDOW_PADDING` bytes must be 0. */
  load(window: Uint8Array<ArrayBuffer>, end: number, windowOffset: number): void {
    if (this.window !== window) {
      this.window = window;
      this.view = new DataView(window.buffer);
      this.#buffer = Buffer.from(window.buffer);
    }
    this.end = end;
    this.#windowOffset = windowOffset;
    this.position = 0;
  }

  /** Skips white space; the byte behind it, not consumed. */
  peek(): number {
    const byte = byteAt(this.window, this.position);
    return byte > SPACE ? byte : this.#peekBehindSpace();
  }

  #peekBehindSpace(): number {
    const { window } = this;
    let position = this.position;
    while (IS_WHITE_SPACE[byteAt(window, position)] === 1) position += 1;
    this.position = position;
    if (position >= this.end) this.outOfBytes();
    return byteAt(window, position);
  }

  /** Whether so many bytes are left. */
  has(length: number): boolean {
    return this.position + length <= this.end;
  }

  /** Skips white space and consumes `byte`. */
  expect(byte: number, expectation: string): void {
    if (this.peek() !== byte) this.fail(expectation);
    this.position += 1;
  }

  /** Reads over a string, from its opening quote on. True if it has escapes. */
  skipString(): boolean {
    let hasEscapes = false;
    this.position += 1;
    while (this.stringBody() !== QUOTE) {
      hasEscapes = true;
      this.escape();
    }
    this.position += 1;
    return hasEscapes;
  }

  /** Reads a string, from its opening quote on. Invalid UTF-8 becomes U+FFFD, as everywhere on the web. */
  string(): string {
    const start = this.position + 1;
    const hasEscapes = this.skipString();
    if (this.position === start + 1) return '';
    const content = this.#buffer.toString('utf8', start, this.position - 1);
    if (!hasEscapes) return content;
    const value: unknown = JSON.parse(`"${content}"`);
    return String(value);
  }

  /** Skips the plain bytes of a string; returns what it stands at then: a quote or a backslash. */
  stringBody(): number {
    const position = plainEnd(this.view, this.position);
    this.position = position;
    const byte = byteAt(this.window, position);
    if (byte >= SPACE) return byte;
    if (position >= this.end) this.outOfBytes();
    return this.fail('no control character within a string');
  }

  /** Consumes an escape, from its backslash on. */
  escape(): void {
    const letter = this.#next();
    if (IS_ESCAPE[letter] !== 1) {
      if (letter !== LETTER_U) this.fail('an escape such as \\n or \\u0041');
      for (let digit = 0; digit < 4; digit += 1) {
        if (IS_HEX_DIGIT[this.#next()] !== 1) this.fail('four hexadecimal digits after \\u');
      }
    }
    this.position += 1;
  }

  /** Moves on by a byte, to the one that it returns. */
  #next(): number {
    this.position += 1;
    if (this.position >= this.end) this.outOfBytes();
    return byteAt(this.window, this.position);
  }

  /** Reads a number; its value is what `JSON.parse` makes of it. Needs the byte behind it, or `isLast`. */
  number(isLast = false): number {
    const { view } = this;
    const start = this.position;
    let position = start;
    let byte = view.getUint8(position);
    // An integer of 32 bits, which wraps where there are more digits than it holds: those are read in another way.
    let value = 0;
    while (byte >= ZERO && byte <= NINE) {
      value = (Math.imul(value, 10) + byte - ZERO) | 0;
      position += 1;
      byte = view.getUint8(position);
    }
    const digits = position - start;
    const isWhole = IS_NUMBER_BYTE[byte] !== 1 && position < this.end;
    const isPlain = digits === 1 || (digits > 1 && view.getUint8(start) !== ZERO);
    if (!isWhole || !isPlain || digits > MAX_EXACT_DIGITS) return this.#anyNumber(isLast);
    this.position = position;
    return digits <= MAX_DIGITS_OF_32_BITS ? value : digitsValue(view, start, position);
  }

  /** Any number but a plain integer of a few digits. */
  #anyNumber(isLast: boolean): number {
    const start = this.position;
    let end = start;
    while (IS_NUMBER_BYTE[byteAt(this.window, end)] === 1) end += 1;
    if (end >= this.end && !isLast) this.outOfBytes();
    const token = this.#buffer.toString('latin1', start, end);
    if (!NUMBER_GRAMMAR.test(token)) this.fail('a number as JSON writes it');
    this.position = end;
    return Number(token);
  }

  /** Reads `true`, `false` or `null`. */
  literal(): void {
    const word = LITERALS.get(byteAt(this.window, this.position)) ?? this.fail('a value');
    for (const byte of word) {
      if (this.position >= this.end) this.outOfBytes();
      if (byteAt(this.window, this.position) !== byte) this.fail('true, false or null');
      this.position += 1;
    }
  }

  /** Throws: the text is not JSON at `position`. */
  fail(expectation: string): never {
    const found = describeByte(byteAt(this.window, this.position));
    throw new ListingError('not_json', `Expected ${expectation}, found ${found}`, this.offset);
  }

  /** Throws: the window ends within a token. */
  outOfBytes(): never {
    // Control flow, not an error: a record that a chunk cuts is begun anew with the next one.
    // oxlint-disable-next-line typescript/only-throw-error
    throw OUT_OF_BYTES;
  }
}

function digitsValue(view: DataView, start: number, end: number): number {
  let value = 0;
  for (let position = start; position < end; position += 1) {
    value = value * 10 + (view.getUint8(position) - ZERO);
  }
  return value;
}

/** True for a byte that a number begins with. */
export function startsNumber(byte: number): boolean {
  return byte === MINUS || (byte >= ZERO && byte <= NINE);
}

function describeByte(byte: number): string {
  const hex = `0x${byte.toString(16).padStart(2, '0')}`;
  return byte > SPACE && byte < 0x7f ? `"${String.fromCharCode(byte)}" (${hex})` : hex;
}
