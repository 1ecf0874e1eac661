import { ListingError } from '../../../src/listing/listing-error.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes.ts';
import { isNumberStart, type Scanner } from './scanner.ts';

/** Bounds the memory that a hostile body can claim by nesting. */
const MAX_DEPTH = 1 << 20;

const ARRAY = 1;
const OBJECT = 2;

/** The next token. `first_…` follows an opening bracket; `…_string` continues a string. */
type Expected =
  'value' | 'first_value' | 'key' | 'first_key' | 'colon' | 'comma_or_end' | 'value_string' | 'key_string';

/**
 * Skips one JSON value of any size and checks its syntax, without buffering it.
 *
 * Resumable: where `skip` throws `OUT_OF_BYTES`, the next window must begin at `resumePosition`. Only small
 * tokens (numbers, literals, escapes) are read twice, never a string.
 */
export class ValueSkipper {
  resumePosition = 0;
  #expected: Expected = 'value';
  #containers = new Uint8Array(64);
  #depth = 0;

  /** Starts a new value. */
  reset(): void {
    this.#expected = 'value';
    this.#depth = 0;
  }

  /** Skips to the end of the value; `isLast` if the body ends with the window. */
  skip(scanner: Scanner, isLast = false): void {
    do {
      this.resumePosition = scanner.position;
    } while (!this.#step(scanner, isLast));
  }

  /** Reads one token; returns whether it ended the value. */
  #step(scanner: Scanner, isLast: boolean): boolean {
    switch (this.#expected) {
      case 'value':
        return this.#skipValue(scanner, isLast);
      case 'first_value':
        return scanner.peek() === CLOSE_BRACKET
          ? this.#closeContainer(scanner)
          : this.#skipValue(scanner, isLast);
      case 'first_key':
        return scanner.peek() === CLOSE_BRACE ? this.#closeContainer(scanner) : this.#skipKeyQuote(scanner);
      case 'key':
        return this.#skipKeyQuote(scanner);
      case 'colon':
        scanner.expect(COLON, '":" after a key');
        return this.#expect('value');
      case 'comma_or_end':
        return this.#skipCommaOrEnd(scanner);
      case 'key_string':
        return this.#skipRestOfString(scanner) && this.#expect('colon');
      case 'value_string':
        return this.#skipRestOfString(scanner) && this.#finishValue();
    }
  }

  #expect(expected: Expected): false {
    this.#expected = expected;
    return false;
  }

  #skipValue(scanner: Scanner, isLast: boolean): boolean {
    const byte = scanner.peek();
    if (byte === QUOTE) {
      scanner.position += 1;
      return this.#expect('value_string');
    }
    if (byte === OPEN_BRACE) return this.#openContainer(scanner, OBJECT);
    if (byte === OPEN_BRACKET) return this.#openContainer(scanner, ARRAY);
    if (isNumberStart(byte)) scanner.readNumber(isLast);
    else scanner.readLiteral();
    return this.#finishValue();
  }

  #skipKeyQuote(scanner: Scanner): false {
    scanner.expect(QUOTE, 'a quoted key');
    return this.#expect('key_string');
  }

  /** Returns true after the closing quote, false after an escape: the string continues. */
  #skipRestOfString(scanner: Scanner): boolean {
    const isQuote = this.#skipStringBody(scanner) === QUOTE;
    if (isQuote) scanner.position += 1;
    else scanner.skipEscape();
    return isQuote;
  }

  /** Advances `resumePosition` even if the window ends within the string, so that no string byte is read twice. */
  #skipStringBody(scanner: Scanner): number {
    try {
      return scanner.skipStringBody();
    } finally {
      this.resumePosition = scanner.position;
    }
  }

  #openContainer(scanner: Scanner, container: number): false {
    if (this.#depth === MAX_DEPTH) {
      throw new ListingError('not_json', `Expected at most ${MAX_DEPTH} levels of nesting`, scanner.offset);
    }
    if (this.#depth === this.#containers.length) this.#growStack();
    this.#containers[this.#depth] = container;
    this.#depth += 1;
    scanner.position += 1;
    return this.#expect(container === OBJECT ? 'first_key' : 'first_value');
  }

  #growStack(): void {
    const larger = new Uint8Array(this.#containers.length * 2);
    larger.set(this.#containers);
    this.#containers = larger;
  }

  #closeContainer(scanner: Scanner): boolean {
    scanner.position += 1;
    this.#depth -= 1;
    return this.#finishValue();
  }

  #skipCommaOrEnd(scanner: Scanner): boolean {
    const byte = scanner.peek();
    const isArray = this.#containers[this.#depth - 1] === ARRAY;
    if (byte === (isArray ? CLOSE_BRACKET : CLOSE_BRACE)) return this.#closeContainer(scanner);
    scanner.expect(COMMA, isArray ? '"," or "]"' : '"," or "}"');
    return this.#expect(isArray ? 'value' : 'key');
  }

  #finishValue(): boolean {
    this.#expected = 'comma_or_end';
    return this.#depth === 0;
  }
}
