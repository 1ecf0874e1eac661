import { COLON, QUOTE } from './bytes.ts';
import type { Scanner } from './scanner.ts';

/**
 * Tells the keys of one kind of object apart. A service writes the members of its records in one order: the key
 * that followed the last time is compared first, byte for byte, and only another one is looked up.
 */
export class KeyTable<T> {
  readonly #keys: ReadonlyMap<string, Key<T>>;
  /** Stands before the first key of an object. */
  readonly #start = new Key<T>('start', undefined);
  last = this.#start;

  /** `meanings`: what each key stands for, in the order in which the keys are expected. */
  constructor(meanings: Readonly<Record<string, T>>) {
    const keys = Object.entries(meanings).map(([name, meaning]) => new Key(name, meaning));
    this.#keys = new Map(keys.map((key) => [key.name, key]));
    for (const [index, key] of keys.entries()) (keys[index - 1] ?? this.#start).follower = key;
  }

  /** An object begins. */
  begin(): void {
    this.last = this.#start;
  }

  /** Reads any key and the colon behind it; what the key stands for, `undefined` if it is not in the table. */
  read(scanner: Scanner): T | undefined {
    if (scanner.peek() !== QUOTE) scanner.fail('a key in quotes');
    const key = this.last.follower;
    const isNext = scanner.has(key.length) && key.isAt(scanner.view, scanner.position);
    if (!isNext) return this.#lookUp(scanner);
    scanner.position += key.length;
    this.last = key;
    return key.meaning;
  }

  #lookUp(scanner: Scanner): T | undefined {
    const key = this.#keys.get(scanner.string());
    scanner.expect(COLON, '":" after a key');
    if (key === undefined) return undefined;
    this.last.follower = key;
    this.last = key;
    return key.meaning;
  }
}

/**
 * A key, and its bytes up to its value: the name in quotes, the colon. They are compared eight at a time, as the
 * numbers that they make; the last eight may overlap those before. That is exact: no text in ASCII makes 0, -0 or NaN.
 */
export class Key<T> {
  readonly name: string;
  readonly meaning: T | undefined;
  readonly length: number;
  /** The key that came after this one the last time. */
  follower: Key<T> = this;
  /** Eight bytes each, from the beginning; the last ones that make no eight are left to `#last`. */
  readonly #eights: Float64Array;
  /** The last eight bytes; of a shorter key the first four and the last four. */
  readonly #last: number;
  readonly #firstFour: number;
  readonly #lastFour: number;

  constructor(name: string, meaning: T | undefined) {
    const bytes = new TextEncoder().encode(`"${name}":`);
    const view = new DataView(bytes.buffer);
    this.name = name;
    this.meaning = meaning;
    this.length = bytes.length;
    this.#eights = Float64Array.from({ length: bytes.length >> 3 }, (_, index) =>
      view.getFloat64(8 * index, true),
    );
    this.#last = bytes.length >= 8 ? view.getFloat64(bytes.length - 8, true) : 0;
    this.#firstFour = view.getInt32(0, true);
    this.#lastFour = view.getInt32(bytes.length - 4, true);
  }

  /** Whether the key stands at `position`: so many bytes must be there. */
  isAt(view: DataView, position: number): boolean {
    const end = position + this.length;
    const eights = this.#eights;
    if (eights.length === 0) {
      return (
        view.getInt32(position, true) === this.#firstFour && view.getInt32(end - 4, true) === this.#lastFour
      );
    }
    for (let index = 0; index < eights.length; index += 1) {
      if (view.getFloat64(position + 8 * index, true) !== eights[index]) return false;
    }
    return view.getFloat64(end - 8, true) === this.#last;
  }
}
