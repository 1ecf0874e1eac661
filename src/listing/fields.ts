import { mapRecord } from '../record-of.ts';
import type { Interner } from './interner.ts';
import { KeyTable, UNKNOWN_KEY } from './key-table.ts';
import type { InvalidReason } from './records.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, LETTER_N, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './bytes.ts';
import { startsNumber, type Scanner } from './scanner.ts';
import { Skipper } from './skipper.ts';

/** A field that holds one value; see `interface.ts` for what each kind admits. */
export interface ScalarField {
  readonly kind: 'text' | 'text_or_integer' | 'integer' | 'count';
  /** The record is invalid without it, or with an empty text in it. */
  readonly isRequired?: true;
  /**
   * What is not kept is checked and dropped: its content never leaves the reader. `repeated` is for texts of which
   * there are few, over and over.
   */
  readonly keep?: 'repeated' | 'single';
}

/** A field that holds a list of records. */
export interface ListField {
  readonly kind: 'list';
  readonly isRequired?: true;
  readonly elements: ElementReader;
}

export type Field = ScalarField | ListField;

/** What takes the elements of a list within a record. */
export interface ElementReader {
  /** A list begins, or is found missing: forget what an earlier one held. */
  begin(): void;
  /** Reads one element. */
  read(scanner: Scanner): void;
}

/** What the object being read holds for a field. */
interface Slot {
  readonly field: Field;
  problem: InvalidReason | undefined;
  text: string | undefined;
  number: number | undefined;
}

/**
 * Reads the objects of one kind of record, by a table of its fields. Unknown fields are skipped, of a key
 * that comes twice the last one counts, `null` is a missing field: the verdict is that of the schema.
 */
export class FieldReader<K extends string> {
  /** The content of each field of the last object, where it is kept. */
  readonly content: Readonly<Record<K, Readonly<Pick<Slot, 'text' | 'number'>>>>;
  readonly #keys: KeyTable;
  readonly #slots: readonly Slot[];
  /** Of these, the ones to be made ready for each object: what others hold nobody reads. */
  readonly #prepared: readonly Slot[];
  readonly #interner: Interner;
  readonly #skipper = new Skipper();
  /** Whether any slot may have a problem: nearly never, and then they are looked through. */
  #mayHaveProblem = false;

  constructor(fields: Readonly<Record<K, Field>>, interner: Interner) {
    const slots = mapRecord(fields, emptySlot);
    this.content = slots;
    this.#slots = Object.values(slots);
    this.#keys = new KeyTable(Object.keys(slots));
    this.#interner = interner;
    this.#prepared = this.#slots.filter(({ field }) => field.isRequired === true || isKept(field));
  }

  /** Reads one value; returns why it is no valid record, or `undefined` if it is one. */
  read(scanner: Scanner): InvalidReason | undefined {
    if (scanner.peek() !== OPEN_BRACE) {
      this.#skip(scanner);
      return 'not_an_object';
    }
    this.#prepare();
    this.#readMembers(scanner);
    return this.#mayHaveProblem ? this.#firstProblem() : this.#firstMissing();
  }

  #prepare(): void {
    for (const slot of this.#mayHaveProblem ? this.#slots : this.#prepared) clear(slot);
    this.#mayHaveProblem = false;
  }

  #firstProblem(): InvalidReason | undefined {
    return this.#slots.find(({ problem }) => problem !== undefined)?.problem;
  }

  /** Of fields that had no value, only the required ones have a problem. */
  #firstMissing(): InvalidReason | undefined {
    for (const slot of this.#prepared) {
      if (slot.problem !== undefined) return slot.problem;
    }
    return undefined;
  }

  #readMembers(scanner: Scanner): void {
    scanner.position += 1;
    this.#keys.begin();
    let next = scanner.peek();
    while (next !== CLOSE_BRACE) {
      this.#readValue(scanner, this.#keys.read(scanner));
      next = scanner.peek();
      if (next === COMMA) scanner.position += 1;
      else if (next !== CLOSE_BRACE) scanner.fail('"," or "}"');
    }
    scanner.position += 1;
  }

  #readValue(scanner: Scanner, index: number): void {
    const first = scanner.peek();
    const slot = index === UNKNOWN_KEY ? undefined : this.#slots[index];
    if (slot === undefined) return this.#skip(scanner);
    const { field } = slot;
    if (field.kind === 'list') return this.#readList(scanner, slot, field, first);
    if (first === QUOTE) return this.#readText(scanner, slot, field);
    if (startsNumber(first)) return this.#readNumber(scanner, slot, field);
    clear(slot);
    if (first === LETTER_N) return scanner.literal();
    this.#note(slot, 'wrong_type');
    return this.#skip(scanner);
  }

  #readText(scanner: Scanner, slot: Slot, { kind, keep, isRequired }: ScalarField): void {
    slot.problem = undefined;
    slot.number = undefined;
    if (kind !== 'text' && kind !== 'text_or_integer') this.#note(slot, 'wrong_type');
    if (keep === 'repeated') {
      scanner.hashedString();
      slot.text = this.#interner.text(scanner);
    } else {
      scanner.string();
      slot.text = keep === undefined ? undefined : scanner.text();
    }
    if (isRequired === true && scanner.stringEnd === scanner.stringStart) this.#note(slot, 'missing_field');
  }

  #readNumber(scanner: Scanner, slot: Slot, field: ScalarField): void {
    const value = scanner.number();
    const problem = judgeNumber(field, value);
    slot.problem = undefined;
    slot.text = undefined;
    if (problem !== undefined) this.#note(slot, problem);
    else if (field.kind === 'text_or_integer') slot.text = String(value);
    else slot.number = value;
  }

  #note(slot: Slot, problem: InvalidReason): void {
    slot.problem = problem;
    this.#mayHaveProblem = true;
  }

  #readList(scanner: Scanner, slot: Slot, field: ListField, first: number): void {
    clear(slot);
    if (first === LETTER_N) return scanner.literal();
    if (first !== OPEN_BRACKET) {
      this.#note(slot, 'wrong_type');
      return this.#skip(scanner);
    }
    slot.problem = undefined;
    scanner.position += 1;
    if (scanner.peek() !== CLOSE_BRACKET) readElements(scanner, field.elements);
    scanner.position += 1;
  }

  #skip(scanner: Scanner): void {
    this.#skipper.begin();
    this.#skipper.run(scanner);
  }
}

/** Reads the elements of a list; stands then at its closing bracket. */
function readElements(scanner: Scanner, elements: ElementReader): void {
  for (;;) {
    elements.read(scanner);
    if (scanner.peek() === CLOSE_BRACKET) return;
    scanner.expect(COMMA, '"," or "]"');
  }
}

function emptySlot(field: Field): Slot {
  return { field, problem: undefined, text: undefined, number: undefined };
}

/** A field that has not come yet. */
function clear(slot: Slot): void {
  const { field } = slot;
  slot.problem = field.isRequired === true ? 'missing_field' : undefined;
  slot.text = undefined;
  slot.number = undefined;
  if (field.kind === 'list') field.elements.begin();
}

function isKept(field: Field): boolean {
  return field.kind === 'list' || field.keep !== undefined;
}

function judgeNumber(field: ScalarField, value: number): InvalidReason | undefined {
  if (field.kind === 'text') return 'wrong_type';
  if (!Number.isInteger(value)) return Number.isFinite(value) ? 'wrong_type' : 'out_of_range';
  if (!Number.isSafeInteger(value)) return 'out_of_range';
  return field.kind === 'count' && value < 0 ? 'out_of_range' : undefined;
}
