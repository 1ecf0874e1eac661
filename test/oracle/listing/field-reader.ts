import { mapRecord } from '../../../src/runtime/record-of.ts';
import type { Interner } from './interner.ts';
import { KeyTable } from './key-table.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  LETTER_N,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes.ts';
import { isNumberStart, type Scanner } from './scanner.ts';
import { findSpecialByte } from './swar.ts';
import { ValueSkipper } from './value-skipper.ts';
import { FieldSlot, type ElementReader, type Field } from './field-slot.ts';

const NO_FIELDS: readonly string[] = [];

/**
 * Reads the objects of one kind of record by a table of at most 32 fields. A field of the wrong type or out of range
 * counts as missing, as `null` does; the rest of the record stands. Unknown fields are skipped, and the last of
 * duplicate keys wins, as for the schema applied to the result of `JSON.parse`.
 */
export class FieldReader<K extends string> {
  /** The values of the last object. */
  readonly values: Readonly<Record<K, Readonly<Pick<FieldSlot, 'text' | 'number'>>>>;
  readonly #keys: KeyTable<FieldSlot>;
  readonly #slots: readonly FieldSlot[];
  readonly #interner: Interner;
  readonly #skipper = new ValueSkipper();
  /** Bit set of the fields of this object that have a value. */
  #present = 0;
  /** Bit set of the fields of this object that are invalid. */
  #invalid = 0;
  /** Bit set of the fields that may hold a value of an earlier object or an invalid one. */
  #stale = 0;

  constructor(fields: Readonly<Record<K, Field>>, interner: Interner) {
    const names = Object.keys(fields);
    let index = 0;
    const slots = mapRecord(fields, (field: Field) => new FieldSlot(names[index] ?? '', field, index++));
    this.values = slots;
    this.#slots = Object.values(slots);
    this.#keys = new KeyTable<FieldSlot>(slots);
    this.#interner = interner;
  }

  /** Names of the invalid fields of the last object. */
  get invalidFields(): readonly string[] {
    if (this.#invalid === 0) return NO_FIELDS;
    return this.#slots.filter(({ bit }) => (this.#invalid & bit) !== 0).map(({ name }) => name);
  }

  /** Reads one value; returns whether it is an object. */
  read(scanner: Scanner): boolean {
    if (scanner.peek() !== OPEN_BRACE) {
      this.#skip(scanner);
      return false;
    }
    // The window may have ended within the object before: its fields are stale, too.
    this.#stale |= this.#present;
    this.#present = 0;
    this.#invalid = 0;
    this.#readMembers(scanner);
    this.#present &= ~this.#invalid;
    this.#stale |= this.#invalid;
    if ((this.#stale & ~this.#present) !== 0) this.#clearAbsent();
    return true;
  }

  #clearAbsent(): void {
    for (const slot of this.#slots) if ((this.#present & slot.bit) === 0) slot.clear();
    this.#stale = 0;
  }

  #readMembers(scanner: Scanner): void {
    scanner.position += 1;
    this.#keys.reset();
    let next = scanner.peek();
    while (next !== CLOSE_BRACE) {
      if (!this.#readExpectedMembers(scanner)) this.#readMember(scanner);
      next = scanner.peek();
      if (next === COMMA) scanner.position += 1;
      else if (next !== CLOSE_BRACE) scanner.fail('"," or "}"');
    }
    scanner.position += 1;
  }

  /**
   * Reads members of the common form: the key that followed the last time, no white space, a plain string or a
   * number. Returns true after such a member, false at a member of another form, none of which is consumed.
   */
  #readExpectedMembers(scanner: Scanner): boolean {
    const { view, end } = scanner;
    const keys = this.#keys;
    for (;;) {
      const { position } = scanner;
      const key = keys.last.nextKey;
      const slot = key.value;
      if (slot === undefined || position + key.length > end || !key.isAt(view, position)) return false;
      scanner.position = position + key.length;
      if (!this.#readExpectedValue(scanner, slot)) {
        scanner.position = position;
        return false;
      }
      keys.last = key;
      if (view.getUint8(scanner.position) !== COMMA) return true;
      scanner.position += 1;
    }
  }

  /** Returns false for a value of another form; the caller then reads the member again from its key on. */
  #readExpectedValue(scanner: Scanner, slot: FieldSlot): boolean {
    const { view, position } = scanner;
    const first = view.getUint8(position);
    this.#markPresent(slot);
    if (first === QUOTE && slot.isUnused) {
      const end = findSpecialByte(view, position + 1);
      scanner.position = end + 1;
      return view.getUint8(end) === QUOTE;
    }
    if (first === QUOTE && slot.isText) this.#readText(scanner, slot);
    else if (slot.isNumber && isNumberStart(first)) this.#readNumber(scanner, slot);
    else return false;
    return true;
  }

  #readMember(scanner: Scanner): void {
    const slot = this.#keys.read(scanner);
    const first = scanner.peek();
    if (slot === undefined) return this.#skip(scanner);
    this.#markPresent(slot);
    if (first === QUOTE && slot.isText) return this.#readText(scanner, slot);
    if (slot.isNumber && isNumberStart(first)) return this.#readNumber(scanner, slot);
    return this.#readUncommonValue(scanner, slot, first);
  }

  /** Marks a field as present and valid; the last of duplicate keys wins. */
  #markPresent(slot: FieldSlot): void {
    this.#present |= slot.bit;
    this.#invalid &= ~slot.bit;
  }

  #readText(scanner: Scanner, slot: FieldSlot): void {
    if (slot.isInterned) {
      slot.text = this.#interner.read(scanner);
    } else if (slot.isUnused) {
      scanner.skipString();
      return;
    } else {
      slot.text = scanner.readString();
    }
    if (slot.text.length === 0) dropEmptyText(slot);
  }

  #readNumber(scanner: Scanner, slot: FieldSlot): void {
    const value = scanner.readNumber();
    slot.number = value;
    if (!Number.isSafeInteger(value) || value < 0) this.#checkNumber(slot, value);
  }

  // Rare cases have methods of their own, so that V8 inlines the scanner and the interner into the common path.
  #checkNumber(slot: FieldSlot, value: number): void {
    if (!slot.isValidNumber(value)) this.#invalid |= slot.bit;
  }

  /** Reads null, a list, a number in a text field, a value of an unused field, or one of the wrong type. */
  #readUncommonValue(scanner: Scanner, slot: FieldSlot, first: number): void {
    if (slot.isUnused) {
      this.#skip(scanner);
    } else if (first === LETTER_N) {
      scanner.readLiteral();
      this.#present &= ~slot.bit;
      slot.clear();
    } else if (slot.elements !== undefined && first === OPEN_BRACKET) {
      readList(scanner, slot.elements);
    } else if (slot.kind === 'label_or_integer' && isNumberStart(first)) {
      const value = scanner.readNumber();
      slot.text = String(value);
      this.#checkNumber(slot, value);
    } else {
      this.#invalid |= slot.bit;
      this.#skip(scanner);
    }
  }

  #skip(scanner: Scanner): void {
    this.#skipper.reset();
    this.#skipper.skip(scanner);
  }
}

function dropEmptyText(slot: FieldSlot): void {
  if (slot.kind !== 'url') slot.text = undefined;
}

/** Reads a list; the scanner is at its opening bracket. */
function readList(scanner: Scanner, elements: ElementReader): void {
  elements.reset();
  scanner.position += 1;
  if (scanner.peek() !== CLOSE_BRACKET) readElements(scanner, elements);
  scanner.position += 1;
}

/** Reads the elements of a list up to its closing bracket. */
function readElements(scanner: Scanner, elements: ElementReader): void {
  for (;;) {
    elements.read(scanner);
    if (scanner.peek() === CLOSE_BRACKET) return;
    scanner.expect(COMMA, '"," or "]"');
  }
}
