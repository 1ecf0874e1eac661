import { LETTER_U, MINUS, NINE, QUOTE, SPACE, ZERO } from './json-bytes.ts';
import { ListingError } from '../../../src/listing/listing-error.ts';
import { findSpecialByte } from './swar.ts';

/** Thrown where the window ends within a token. The caller rewinds and waits for more bytes. */
export const OUT_OF_BYTES: unique symbol = Symbol('out of bytes');

const IS_WHITE_SPACE = createByteSet(' \t\n\r');
const IS_HEX_DIGIT = createByteSet('0123456789abcdefABCDEF');
const IS_ESCAPE = createByteSet('"\\/bfnrt');
/** Bytes that continue a number token; `NUMBER_GRAMMAR` then checks the whole token. */
const IS_NUMBER_BYTE = createByteSet('0123456789+-.eE');
const NUMBER_GRAMMAR = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Integers of up to 15 digits are exact in a double. */
const MAX_EXACT_DIGITS = 15;
/** Integers of up to 9 digits fit a signed 32-bit integer, which is faster. */
const MAX_INT32_DIGITS = 9;

const LITERALS: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), new TextEncoder().encode(word)]),
);

function createByteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) set[byte] = 1;
  return set;
}

/** Returns a byte of a window; the default value never applies and only satisfies the compiler. */
function getByte(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

/**
 * Reads the tokens of JSON (RFC 8259) in a window of bytes. Each method reads one token at `position` and
 * moves `position` past it. It throws `OUT_OF_BYTES` where the window ends within the token, and a
 * `ListingError` with the absolute byte offset where the text is not JSON.
 *
 * Invariant: `WINDOW_PADDING` zero bytes follow the window. No JSON token contains a zero byte, so every loop
 * stops there, and only then checks whether the window ended or the text is invalid.
 */
export class Scanner {
  position = 0;
  /** Length of the window without its padding. */
  end = 0;
  /** Always a plain `Uint8Array`: with a second array type, `getByte` would be twice as slow. */
  window = new Uint8Array(1);
  /** Same memory as `window`, for reading four bytes at a time. */
  view = new DataView(this.window.buffer);
  /** Same memory as `window`, for decoding strings. */
  #buffer = Buffer.alloc(0);
  /** Offset of the window's first byte from the start of the body. */
  #windowOffset = 0;

  /** Offset of `position` from the start of the body. */
  get offset(): number {
    return this.#windowOffset + this.position;
  }

  /** Starts a new window; the `WINDOW_PADDING` bytes from `end` on must be 0. */
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

  /** Skips white space and returns the next byte without consuming it. */
  peek(): number {
    const byte = getByte(this.window, this.position);
    return byte > SPACE ? byte : this.#peekAfterWhiteSpace();
  }

  #peekAfterWhiteSpace(): number {
    const { window } = this;
    let position = this.position;
    while (IS_WHITE_SPACE[getByte(window, position)] === 1) position += 1;
    this.position = position;
    if (position >= this.end) this.throwOutOfBytes();
    return getByte(window, position);
  }

  hasBytes(length: number): boolean {
    return this.position + length <= this.end;
  }

  /** Skips white space and consumes `byte`. */
  expect(byte: number, expectation: string): void {
    if (this.peek() !== byte) this.fail(expectation);
    this.position += 1;
  }

  /** Skips a string; `position` is at its opening quote. Returns whether it has escapes. */
  skipString(): boolean {
    let hasEscapes = false;
    this.position += 1;
    while (this.skipStringBody() !== QUOTE) {
      hasEscapes = true;
      this.skipEscape();
    }
    this.position += 1;
    return hasEscapes;
  }

  /** Reads a string; `position` is at its opening quote. Invalid UTF-8 becomes U+FFFD, as in `TextDecoder`. */
  readString(): string {
    const start = this.position + 1;
    const hasEscapes = this.skipString();
    if (this.position === start + 1) return '';
    const content = this.#buffer.toString('utf8', start, this.position - 1);
    if (!hasEscapes) return content;
    const value: unknown = JSON.parse(`"${content}"`);
    return String(value);
  }

  /** Skips to the next quote or backslash of a string and returns that byte. */
  skipStringBody(): number {
    const position = findSpecialByte(this.view, this.position);
    this.position = position;
    const byte = getByte(this.window, position);
    if (byte >= SPACE) return byte;
    if (position >= this.end) this.throwOutOfBytes();
    return this.fail('an escaped control character in a string');
  }

  /** Skips an escape; `position` is at its backslash. */
  skipEscape(): void {
    const letter = this.#advance();
    if (IS_ESCAPE[letter] !== 1) {
      if (letter !== LETTER_U) this.fail('an escape such as \\n or \\u0041');
      for (let digit = 0; digit < 4; digit += 1) {
        if (IS_HEX_DIGIT[this.#advance()] !== 1) this.fail('four hexadecimal digits after \\u');
      }
    }
    this.position += 1;
  }

  /** Moves to the next byte and returns it. */
  #advance(): number {
    this.position += 1;
    if (this.position >= this.end) this.throwOutOfBytes();
    return getByte(this.window, this.position);
  }

  /** Reads a number, with the value that `JSON.parse` gives. The token ends at the next byte or, if `isLast`, with the window. */
  readNumber(isLast = false): number {
    const { view } = this;
    const start = this.position;
    let position = start;
    let byte = view.getUint8(position);
    // Wraps above 32 bits; longer integers are parsed again below.
    let value = 0;
    while (byte >= ZERO && byte <= NINE) {
      value = (Math.imul(value, 10) + byte - ZERO) | 0;
      position += 1;
      byte = view.getUint8(position);
    }
    const digits = position - start;
    const isWhole = IS_NUMBER_BYTE[byte] !== 1 && position < this.end;
    const isPlain = digits === 1 || (digits > 1 && view.getUint8(start) !== ZERO);
    if (!isWhole || !isPlain || digits > MAX_EXACT_DIGITS) return this.#readNumberByGrammar(isLast);
    this.position = position;
    return digits <= MAX_INT32_DIGITS ? value : parseDigits(view, start, position);
  }

  /** Reads any number that is not an integer of at most 15 digits. */
  #readNumberByGrammar(isLast: boolean): number {
    const start = this.position;
    let end = start;
    while (IS_NUMBER_BYTE[getByte(this.window, end)] === 1) end += 1;
    if (end >= this.end && !isLast) this.throwOutOfBytes();
    const token = this.#buffer.toString('latin1', start, end);
    if (!NUMBER_GRAMMAR.test(token)) this.fail('a JSON number');
    this.position = end;
    return Number(token);
  }

  /** Reads `true`, `false` or `null`. */
  readLiteral(): void {
    const word = LITERALS.get(getByte(this.window, this.position)) ?? this.fail('a value');
    for (const byte of word) {
      if (this.position >= this.end) this.throwOutOfBytes();
      if (getByte(this.window, this.position) !== byte) this.fail('true, false or null');
      this.position += 1;
    }
  }

  /** Throws a `ListingError`: the text is not JSON at `position`. */
  fail(expectation: string): never {
    const found = describeByte(getByte(this.window, this.position));
    throw new ListingError('not_json', `Expected ${expectation}, found ${found}`, this.offset);
  }

  /** Throws `OUT_OF_BYTES`. */
  throwOutOfBytes(): never {
    // Control flow, not an error: a record cut by the end of a chunk is read again with the next chunk.
    // oxlint-disable-next-line typescript/only-throw-error
    throw OUT_OF_BYTES;
  }
}

function parseDigits(view: DataView, start: number, end: number): number {
  let value = 0;
  for (let position = start; position < end; position += 1) {
    value = value * 10 + (view.getUint8(position) - ZERO);
  }
  return value;
}

export function isNumberStart(byte: number): boolean {
  return byte === MINUS || (byte >= ZERO && byte <= NINE);
}

function describeByte(byte: number): string {
  const hex = `0x${byte.toString(16).padStart(2, '0')}`;
  return byte > SPACE && byte < 0x7f ? `"${String.fromCharCode(byte)}" (${hex})` : hex;
}
