import { COLON, QUOTE } from './json-bytes.ts';
import type { Scanner } from './scanner.ts';

/**
 * Finds the keys of one kind of object. The service writes the members of its records in one order, so the key
 * that followed the last time is compared first, byte for byte; only other keys are looked up.
 */
export class KeyTable<T> {
  readonly #keys: ReadonlyMap<string, Key<T>>;
  /** Sentinel before the first key of an object. */
  readonly #start = new Key<T>('start', undefined);
  last = this.#start;

  /** `values` has a value for each key, in the expected order of the keys. */
  constructor(values: Readonly<Record<string, T>>) {
    const keys = Object.entries(values).map(([name, value]) => new Key(name, value));
    this.#keys = new Map(keys.map((key) => [key.name, key]));
    for (const [index, key] of keys.entries()) (keys[index - 1] ?? this.#start).nextKey = key;
  }

  /** Starts a new object. */
  reset(): void {
    this.last = this.#start;
  }

  /** Reads a key and its colon; returns the value for the key, `undefined` if it is not in the table. */
  read(scanner: Scanner): T | undefined {
    if (scanner.peek() !== QUOTE) scanner.fail('a quoted key');
    const key = this.last.nextKey;
    const isNext = scanner.hasBytes(key.length) && key.isAt(scanner.view, scanner.position);
    if (!isNext) return this.#lookUp(scanner);
    scanner.position += key.length;
    this.last = key;
    return key.value;
  }

  #lookUp(scanner: Scanner): T | undefined {
    const key = this.#keys.get(scanner.readString());
    scanner.expect(COLON, '":" after a key');
    if (key === undefined) return undefined;
    this.last.nextKey = key;
    this.last = key;
    return key.value;
  }
}

/**
 * A key with its bytes: the quoted name and the colon. They are compared eight at a time as doubles; the last eight
 * may overlap those before. The comparison is exact, because no ASCII text has the bit pattern of 0, -0 or NaN.
 */
export class Key<T> {
  readonly name: string;
  readonly value: T | undefined;
  readonly length: number;
  /** The key that followed this one the last time. */
  nextKey: Key<T> = this;
  /** Eight bytes each, from the first on; `#lastChunk` covers a remainder. */
  readonly #chunks: Float64Array;
  /** The last eight bytes. */
  readonly #lastChunk: number;
  /** Keys of fewer than eight bytes are compared by their first and last four. */
  readonly #firstFour: number;
  readonly #lastFour: number;

  constructor(name: string, value: T | undefined) {
    const bytes = new TextEncoder().encode(`"${name}":`);
    const view = new DataView(bytes.buffer);
    this.name = name;
    this.value = value;
    this.length = bytes.length;
    this.#chunks = Float64Array.from({ length: bytes.length >> 3 }, (_, index) =>
      view.getFloat64(8 * index, true),
    );
    this.#lastChunk = bytes.length >= 8 ? view.getFloat64(bytes.length - 8, true) : 0;
    this.#firstFour = view.getInt32(0, true);
    this.#lastFour = view.getInt32(bytes.length - 4, true);
  }

  /** Compares the key with the bytes at `position`; at least `length` bytes must be there. */
  isAt(view: DataView, position: number): boolean {
    const end = position + this.length;
    const chunks = this.#chunks;
    if (chunks.length === 0) {
      return (
        view.getInt32(position, true) === this.#firstFour && view.getInt32(end - 4, true) === this.#lastFour
      );
    }
    for (let index = 0; index < chunks.length; index += 1) {
      if (view.getFloat64(position + 8 * index, true) !== chunks[index]) return false;
    }
    return view.getFloat64(end - 8, true) === this.#lastChunk;
  }
}
