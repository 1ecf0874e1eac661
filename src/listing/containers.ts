import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  type Scanner,
} from './scanner.ts';

/** Reads an object, from its brace on: `readValue` is called behind each colon and must consume the value. */
export function readMembers(scanner: Scanner, readValue: (key: string) => void): void {
  scanner.expect(OPEN_BRACE, 'an object');
  if (scanner.peek() !== CLOSE_BRACE) {
    do {
      readValue(readKey(scanner));
    } while (hasNext(scanner, CLOSE_BRACE, '"," or "}"'));
  }
  scanner.expect(CLOSE_BRACE, '"," or "}"');
}

/** Reads an array, from its bracket on: `readValue` is called before each element and must consume it. */
export function readElements(scanner: Scanner, readValue: () => void): void {
  scanner.expect(OPEN_BRACKET, 'an array');
  if (scanner.peek() !== CLOSE_BRACKET) {
    do {
      readValue();
    } while (hasNext(scanner, CLOSE_BRACKET, '"," or "]"'));
  }
  scanner.expect(CLOSE_BRACKET, '"," or "]"');
}

/** Reads a member's key and the colon behind it. */
export function readKey(scanner: Scanner): string {
  if (scanner.peek() !== QUOTE) scanner.fail('a key in quotes');
  scanner.string();
  const key = scanner.text();
  scanner.expect(COLON, '":" after a key');
  return key;
}

function hasNext(scanner: Scanner, close: number, expectation: string): boolean {
  if (scanner.peek() === close) return false;
  scanner.expect(COMMA, expectation);
  return true;
}
