import { mapRecord } from '../record-of.ts';
import type { Interner } from './interner.ts';
import { KeyTable } from './key-table.ts';
import type { InvalidReason } from './records.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, LETTER_N, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './bytes.ts';
import { startsNumber, type Scanner } from './scanner.ts';
import { plainEnd } from './words.ts';
import { Skipper } from './skipper.ts';
import { problemOf, setOf, Slot, type ElementReader, type Field } from './slot.ts';

/**
 * Reads the objects of one kind of record, by a table of its fields, up to 32. Unknown fields are skipped, of a
 * key that comes twice the last one counts, `null` is a missing field: the verdict is that of the schema.
 */
export class FieldReader<K extends string> {
  /** The content of each field of the last object that was valid, where it is kept. */
  readonly content: Readonly<Record<K, Readonly<Pick<Slot, 'text' | 'number'>>>>;
  readonly #keys: KeyTable<Slot>;
  readonly #slots: readonly Slot[];
  readonly #required: number;
  readonly #interner: Interner;
  readonly #skipper = new Skipper();
  /** Sets of fields, a bit each: of this object those with a value and those with a problem … */
  #present = 0;
  #wrong = 0;
  /** … and those that may still hold what an object before had in them. */
  #filled = 0;

  constructor(fields: Readonly<Record<K, Field>>, interner: Interner) {
    let index = 0;
    const slots = mapRecord(fields, (field: Field) => new Slot(field, index++));
    this.content = slots;
    this.#slots = Object.values(slots);
    this.#keys = new KeyTable<Slot>(slots);
    this.#required = setOf(this.#slots.filter(({ field }) => field.isRequired === true));
    this.#interner = interner;
  }

  /** Reads one value; returns why it is no valid record, or `undefined` if it is one. */
  read(scanner: Scanner): InvalidReason | undefined {
    if (scanner.peek() !== OPEN_BRACE) {
      this.#skip(scanner);
      return 'not_an_object';
    }
    // Of the object before, too, if the bytes ended within it.
    this.#filled |= this.#present;
    this.#present = 0;
    this.#wrong = 0;
    this.#readMembers(scanner);
    if ((this.#wrong | (this.#required & ~this.#present)) !== 0) return this.#firstProblem();
    if ((this.#filled & ~this.#present) !== 0) this.#clearAbsent();
    return undefined;
  }

  /** Of the fields in their order. */
  #firstProblem(): InvalidReason | undefined {
    for (const { bit, problem } of this.#slots) {
      if ((this.#wrong & bit) !== 0) return problem;
      if ((this.#required & ~this.#present & bit) !== 0) return 'missing_field';
    }
    return undefined;
  }

  #clearAbsent(): void {
    for (const slot of this.#slots) {
      if ((this.#present & slot.bit) !== 0) continue;
      slot.text = undefined;
      slot.number = undefined;
    }
    this.#filled = 0;
  }

  #readMembers(scanner: Scanner): void {
    scanner.position += 1;
    this.#keys.begin();
    let next = scanner.peek();
    while (next !== CLOSE_BRACE) {
      if (!this.#readUsualMembers(scanner)) this.#readMember(scanner);
      next = scanner.peek();
      if (next === COMMA) scanner.position += 1;
      else if (next !== CLOSE_BRACE) scanner.fail('"," or "}"');
    }
    scanner.position += 1;
  }

  /**
   * Reads members for as long as they are what they nearly always are: the key that followed the last time, no white
   * space, a plain string or a number. True if it stands behind one; false if it stands at one that is something
   * else, of which nothing is read.
   */
  #readUsualMembers(scanner: Scanner): boolean {
    const { view, end } = scanner;
    const keys = this.#keys;
    for (;;) {
      const { position } = scanner;
      const key = keys.last.follower;
      const slot = key.meaning;
      if (slot === undefined || position + key.length > end || !key.isAt(view, position)) return false;
      scanner.position = position + key.length;
      if (!this.#readUsualValue(scanner, slot)) {
        scanner.position = position;
        return false;
      }
      keys.last = key;
      if (view.getUint8(scanner.position) !== COMMA) return true;
      scanner.position += 1;
    }
  }

  /** False if it is something else; it is to be read again then, from its key on. */
  #readUsualValue(scanner: Scanner, slot: Slot): boolean {
    const { view, position } = scanner;
    const first = view.getUint8(position);
    this.#begin(slot);
    if (first === QUOTE && slot.isDropped) {
      const stop = plainEnd(view, position + 1);
      scanner.position = stop + 1;
      return view.getUint8(stop) === QUOTE;
    }
    if (first === QUOTE && slot.takesText) this.#readText(scanner, slot);
    else if (slot.takesNumber && startsNumber(first)) this.#readNumber(scanner, slot);
    else return false;
    return true;
  }

  #readMember(scanner: Scanner): void {
    const slot = this.#keys.read(scanner);
    const first = scanner.peek();
    if (slot === undefined) return this.#skip(scanner);
    this.#begin(slot);
    if (first === QUOTE && slot.takesText) return this.#readText(scanner, slot);
    if (slot.takesNumber && startsNumber(first)) return this.#readNumber(scanner, slot);
    return this.#readOther(scanner, slot, first);
  }

  /** A value comes: the field is there, and what was wrong with it before holds no longer. */
  #begin(slot: Slot): void {
    this.#present |= slot.bit;
    this.#wrong &= ~slot.bit;
  }

  #readText(scanner: Scanner, slot: Slot): void {
    if (slot.keep === 'repeated') {
      slot.text = this.#interner.read(scanner);
    } else if (slot.isDropped) {
      scanner.skipString();
    } else {
      slot.text = scanner.string();
      if (slot.text === '' && slot.field.isRequired === true) this.#note(slot, 'missing_field');
    }
  }

  #readNumber(scanner: Scanner, slot: Slot): void {
    const value = scanner.number();
    slot.number = value;
    if (!Number.isSafeInteger(value) || value < 0) this.#judge(slot, value);
  }

  /** A value of the less usual kinds, or a wrong one. */
  #readOther(scanner: Scanner, slot: Slot, first: number): void {
    const { field } = slot;
    if (first === LETTER_N) {
      scanner.literal();
      this.#leaveOut(slot);
    } else if (field.kind === 'list' && first === OPEN_BRACKET) {
      readList(scanner, field.elements);
    } else if (field.kind !== 'list' && startsNumber(first)) {
      const value = scanner.number();
      slot.text = String(value);
      this.#judge(slot, value);
    } else {
      this.#note(slot, 'wrong_type');
      this.#skip(scanner);
    }
  }

  #leaveOut(slot: Slot): void {
    this.#present &= ~slot.bit;
    slot.text = undefined;
    slot.number = undefined;
  }

  #judge(slot: Slot, value: number): void {
    const problem = problemOf(slot.field, value);
    if (problem !== undefined) this.#note(slot, problem);
  }

  #note(slot: Slot, problem: InvalidReason): void {
    slot.problem = problem;
    this.#wrong |= slot.bit;
  }

  #skip(scanner: Scanner): void {
    this.#skipper.begin();
    this.#skipper.run(scanner);
  }
}

/** Reads a list, from its opening bracket on. */
function readList(scanner: Scanner, elements: ElementReader): void {
  elements.begin();
  scanner.position += 1;
  if (scanner.peek() !== CLOSE_BRACKET) readElements(scanner, elements);
  scanner.position += 1;
}

/** Reads the elements of a list; stands then at its closing bracket. */
function readElements(scanner: Scanner, elements: ElementReader): void {
  for (;;) {
    elements.read(scanner);
    if (scanner.peek() === CLOSE_BRACKET) return;
    scanner.expect(COMMA, '"," or "]"');
  }
}
