import { ListingError } from './errors.ts';

/** Thrown where the bytes end before the token does: the caller rewinds and waits for more of them. */
export const OUT_OF_BYTES: unique symbol = Symbol('out of bytes');

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const BACKSLASH = 0x5c;
/** Stands for the byte behind the window. */
export const END_OF_WINDOW = -1;
export const LETTER_N = 0x6e;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_U = 0x75;

const IS_WHITE_SPACE = byteSet(' \t\n\r');
const IS_DIGIT = byteSet('0123456789');
const IS_HEX_DIGIT = byteSet('0123456789abcdefABCDEF');
const IS_ESCAPE = byteSet('"\\/bfnrt');
/** What a number may go on with, valid or not: the grammar is checked on the whole token. */
const IS_NUMBER_BYTE = byteSet('0123456789+-.eE');
const NUMBER_GRAMMAR = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Integers of so many digits are exact in a double. */
const MAX_EXACT_DIGITS = 15;

const LITERALS: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
);

function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) set[byte] = 1;
  return set;
}

/**
 * The tokens of JSON (RFC 8259) in a window of bytes. Each method reads one token from `position` on and
 * leaves `position` behind it; throws `OUT_OF_BYTES` where the window ends too early, and a `ListingError`
 * with the absolute byte where the text is not JSON.
 */
export class Scanner {
  position = 0;
  /** Of the last string read: the bytes between its quotes, and whether it has escapes. */
  stringStart = 0;
  stringEnd = 0;
  stringHasEscapes = false;
  #window: Buffer = Buffer.alloc(0);
  /** Offset of the window's first byte from the start of the body. */
  #windowOffset = 0;

  get window(): Buffer {
    return this.#window;
  }

  /** Offset of `position` from the start of the body. */
  get offset(): number {
    return this.#windowOffset + this.position;
  }

  load(window: Buffer, windowOffset: number): void {
    this.#window = window;
    this.#windowOffset = windowOffset;
    this.position = 0;
  }

  /** Skips white space; the byte behind it, not consumed. */
  peek(): number {
    const window = this.#window;
    let position = this.position;
    while (IS_WHITE_SPACE[window[position] ?? 0] === 1) position += 1;
    this.position = position;
    return window[position] ?? this.outOfBytes();
  }

  /** Skips white space and consumes `byte`. */
  expect(byte: number, expectation: string): void {
    if (this.peek() !== byte) this.fail(expectation);
    this.position += 1;
  }

  /** Reads a string, from its opening quote on. Its content is not decoded. */
  string(): void {
    this.stringHasEscapes = false;
    this.stringStart = this.position + 1;
    this.position = this.stringStart;
    for (let byte = this.stringBody(); byte !== QUOTE; byte = this.stringBody()) {
      if (byte === END_OF_WINDOW) this.outOfBytes();
      this.stringHasEscapes = true;
      this.escape();
    }
    this.stringEnd = this.position;
    this.position += 1;
  }

  /** Skips the plain bytes of a string; returns what it stands at then: quote, backslash or the window's end. */
  stringBody(): number {
    const window = this.#window;
    let position = this.position;
    let byte = window[position];
    while (byte !== undefined && byte !== QUOTE && byte !== BACKSLASH && byte >= 0x20) {
      position += 1;
      byte = window[position];
    }
    this.position = position;
    if (byte === undefined) return END_OF_WINDOW;
    if (byte < 0x20) this.fail('no control character within a string');
    return byte;
  }

  /** Consumes an escape, from its backslash on. */
  escape(): void {
    const letter = this.#window[this.position + 1] ?? this.outOfBytes();
    if (IS_ESCAPE[letter] === 1) {
      this.position += 2;
      return;
    }
    this.position += 1;
    if (letter !== LETTER_U) this.fail('an escape such as \\n or \\u0041');
    for (let digit = 0; digit < 4; digit += 1) {
      this.position += 1;
      const byte = this.#window[this.position] ?? this.outOfBytes();
      if (IS_HEX_DIGIT[byte] !== 1) this.fail('four hexadecimal digits after \\u');
    }
    this.position += 1;
  }

  /** The content of the last string read. Invalid UTF-8 becomes U+FFFD, as everywhere on the web. */
  text(): string {
    const content = this.#window.toString('utf8', this.stringStart, this.stringEnd);
    if (!this.stringHasEscapes) return content;
    const value: unknown = JSON.parse(`"${content}"`);
    return String(value);
  }

  /** Reads a number; its value is what `JSON.parse` makes of it. Needs the byte behind it, or `isLast`. */
  number(isLast = false): number {
    const start = this.position;
    const window = this.#window;
    let end = start;
    while (IS_NUMBER_BYTE[window[end] ?? 0] === 1) end += 1;
    if (end === window.length && !isLast) this.outOfBytes();
    const value = this.#plainInteger(start, end) ?? this.#anyNumber(start, end);
    this.position = end;
    return value;
  }

  /** The common case, without a string: a few digits, no leading zero. */
  #plainInteger(start: number, end: number): number | undefined {
    if (end - start > MAX_EXACT_DIGITS || end === start) return undefined;
    if (this.#window[start] === ZERO && end - start > 1) return undefined;
    let value = 0;
    for (let index = start; index < end; index += 1) {
      const byte = this.#window[index] ?? 0;
      if (IS_DIGIT[byte] !== 1) return undefined;
      value = value * 10 + (byte - ZERO);
    }
    return value;
  }

  #anyNumber(start: number, end: number): number {
    const token = this.#window.toString('latin1', start, end);
    if (!NUMBER_GRAMMAR.test(token)) this.fail('a number as JSON writes it');
    return Number(token);
  }

  /** Reads `true`, `false` or `null`, of which the first byte is known to fit. */
  literal(): void {
    const word = LITERALS.get(this.#window[this.position] ?? 0) ?? this.fail('a value');
    for (const byte of word) {
      const found = this.#window[this.position] ?? this.outOfBytes();
      if (found !== byte) this.fail('true, false or null');
      this.position += 1;
    }
  }

  /** Throws: the text is not JSON at `position`. */
  fail(expectation: string): never {
    const byte = this.#window[this.position];
    const found = byte === undefined ? 'the end of the body' : describeByte(byte);
    throw new ListingError('not_json', `Expected ${expectation}, found ${found}`, this.offset);
  }

  /** Throws: the window ends within a token. */
  outOfBytes(): never {
    // Control flow, not an error: a record that a chunk cuts is begun anew with the next one.
    // oxlint-disable-next-line typescript/only-throw-error
    throw OUT_OF_BYTES;
  }
}

/** True for a byte that a number begins with. */
export function startsNumber(byte: number): boolean {
  return byte === MINUS || (byte >= ZERO && byte <= NINE);
}

function describeByte(byte: number): string {
  const hex = `0x${byte.toString(16).padStart(2, '0')}`;
  return byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}" (${hex})` : hex;
}
