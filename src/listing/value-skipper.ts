import { ListingError } from './errors.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './bytes.ts';
import { startsNumber, type Scanner } from './scanner.ts';

/** Nested deeper than this is refused: the stack must not grow with a hostile body. */
const MAX_DEPTH = 1 << 20;

const ARRAY = 1;
const OBJECT = 2;

/** What comes next. `first_…` stands behind an opening bracket; `…_string` within a string. */
type Expected =
  'value' | 'first_value' | 'key' | 'first_key' | 'colon' | 'comma_or_end' | 'value_string' | 'key_string';

/**
 * Reads over one JSON value of any size, checking every byte, holding none.
 *
 * Resumable: where `run` throws `OUT_OF_BYTES`, `resumeAt` is where the next window has to begin. Only a
 * small token (a number, a literal, an escape) is ever read twice, never a string.
 */
export class Skipper {
  resumeAt = 0;
  #expected: Expected = 'value';
  #containers = new Uint8Array(64);
  #depth = 0;

  /** Makes ready for a new value. */
  begin(): void {
    this.#expected = 'value';
    this.#depth = 0;
  }

  /** Goes on to the end of the value. `isLast`: nothing follows the window. */
  run(scanner: Scanner, isLast = false): void {
    do {
      this.resumeAt = scanner.position;
    } while (!this.#step(scanner, isLast));
  }

  /** One token further. True when it ended the value. */
  #step(scanner: Scanner, isLast: boolean): boolean {
    switch (this.#expected) {
      case 'value':
        return this.#value(scanner, isLast);
      case 'first_value':
        return scanner.peek() === CLOSE_BRACKET ? this.#close(scanner) : this.#value(scanner, isLast);
      case 'first_key':
        return scanner.peek() === CLOSE_BRACE ? this.#close(scanner) : this.#key(scanner);
      case 'key':
        return this.#key(scanner);
      case 'colon':
        scanner.expect(COLON, '":" after a key');
        return this.#next('value');
      case 'comma_or_end':
        return this.#commaOrEnd(scanner);
      case 'key_string':
        return this.#restOfString(scanner) && this.#next('colon');
      case 'value_string':
        return this.#restOfString(scanner) && this.#afterValue();
    }
  }

  #next(expected: Expected): false {
    this.#expected = expected;
    return false;
  }

  #value(scanner: Scanner, isLast: boolean): boolean {
    const byte = scanner.peek();
    if (byte === QUOTE) {
      scanner.position += 1;
      return this.#next('value_string');
    }
    if (byte === OPEN_BRACE) return this.#open(scanner, OBJECT);
    if (byte === OPEN_BRACKET) return this.#open(scanner, ARRAY);
    if (startsNumber(byte)) scanner.number(isLast);
    else scanner.literal();
    return this.#afterValue();
  }

  #key(scanner: Scanner): false {
    scanner.expect(QUOTE, 'a key in quotes');
    return this.#next('key_string');
  }

  /** True when the closing quote is consumed; false after an escape, with the rest still to come. */
  #restOfString(scanner: Scanner): boolean {
    const isQuote = this.#stringBody(scanner) === QUOTE;
    if (isQuote) scanner.position += 1;
    else scanner.escape();
    return isQuote;
  }

  /** What has been read of a string need not be read again, wherever the window ends. */
  #stringBody(scanner: Scanner): number {
    try {
      return scanner.stringBody();
    } finally {
      this.resumeAt = scanner.position;
    }
  }

  #open(scanner: Scanner, container: number): false {
    if (this.#depth === MAX_DEPTH) {
      throw new ListingError('not_json', `Expected at most ${MAX_DEPTH} levels of nesting`, scanner.offset);
    }
    if (this.#depth === this.#containers.length) this.#grow();
    this.#containers[this.#depth] = container;
    this.#depth += 1;
    scanner.position += 1;
    return this.#next(container === OBJECT ? 'first_key' : 'first_value');
  }

  #grow(): void {
    const larger = new Uint8Array(this.#containers.length * 2);
    larger.set(this.#containers);
    this.#containers = larger;
  }

  #close(scanner: Scanner): boolean {
    scanner.position += 1;
    this.#depth -= 1;
    return this.#afterValue();
  }

  #commaOrEnd(scanner: Scanner): boolean {
    const byte = scanner.peek();
    const isArray = this.#containers[this.#depth - 1] === ARRAY;
    if (byte === (isArray ? CLOSE_BRACKET : CLOSE_BRACE)) return this.#close(scanner);
    scanner.expect(COMMA, isArray ? '"," or "]"' : '"," or "}"');
    return this.#next(isArray ? 'value' : 'key');
  }

  #afterValue(): boolean {
    this.#expected = 'comma_or_end';
    return this.#depth === 0;
  }
}
