import { readElements, readMembers } from './containers.ts';
import type { InvalidReason } from './records.ts';
import { LETTER_N, OPEN_BRACE, OPEN_BRACKET, QUOTE, startsNumber, type Scanner } from './scanner.ts';
import { Skipper } from './skipper.ts';

/** A field that holds one value; see `interface.ts` for what each kind admits. */
export interface ScalarField {
  readonly kind: 'text' | 'text_or_integer' | 'integer' | 'count';
  /** The record is invalid without it, or with an empty text in it. */
  readonly isRequired?: true;
  /** What is not kept is checked and dropped: its content never leaves the reader. */
  readonly isKept?: true;
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
  /** A list begins: forget what an earlier one, of the record before or of the same key, held. */
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
export class FieldReader {
  readonly #slots: ReadonlyMap<string, Slot>;
  readonly #skipper = new Skipper();

  constructor(fields: Readonly<Record<string, Field>>) {
    this.#slots = new Map(
      Object.entries(fields).map(([name, field]) => [
        name,
        { field, problem: undefined, text: undefined, number: undefined },
      ]),
    );
  }

  /** Reads one value; returns why it is no valid record, or `undefined` if it is one. */
  read(scanner: Scanner): InvalidReason | undefined {
    if (scanner.peek() !== OPEN_BRACE) {
      this.#skip(scanner);
      return 'not_an_object';
    }
    for (const slot of this.#slots.values()) clear(slot);
    readMembers(scanner, (key) => this.#readValue(scanner, this.#slots.get(key)));
    for (const slot of this.#slots.values()) {
      if (slot.problem !== undefined) return slot.problem;
    }
    return undefined;
  }

  /** The text of a kept field of the last object; an integer as its decimal digits. */
  text(name: string): string | undefined {
    return this.#slots.get(name)?.text;
  }

  /** The number of a kept field of the last object. */
  number(name: string): number | undefined {
    return this.#slots.get(name)?.number;
  }

  #readValue(scanner: Scanner, slot: Slot | undefined): void {
    const first = scanner.peek();
    if (slot === undefined) return this.#skip(scanner);
    clear(slot);
    if (first === LETTER_N) return scanner.literal();
    if (slot.field.kind === 'list') return this.#readList(scanner, slot, slot.field, first);
    return this.#readScalar(scanner, slot, slot.field, first);
  }

  #readList(scanner: Scanner, slot: Slot, field: ListField, first: number): void {
    if (first === OPEN_BRACKET) {
      slot.problem = undefined;
      readElements(scanner, () => field.elements.read(scanner));
    } else {
      slot.problem = 'wrong_type';
      this.#skip(scanner);
    }
  }

  #readScalar(scanner: Scanner, slot: Slot, field: ScalarField, first: number): void {
    if (first === QUOTE) {
      scanner.string();
      takeText(slot, field, scanner);
    } else if (startsNumber(first)) {
      takeNumber(slot, field, scanner.number());
    } else {
      slot.problem = 'wrong_type';
      this.#skip(scanner);
    }
  }

  #skip(scanner: Scanner): void {
    this.#skipper.begin();
    this.#skipper.run(scanner);
  }
}

/** A field that has not come yet. */
function clear(slot: Slot): void {
  slot.problem = slot.field.isRequired === true ? 'missing_field' : undefined;
  slot.text = undefined;
  slot.number = undefined;
  if (slot.field.kind === 'list') slot.field.elements.begin();
}

function takeText(slot: Slot, field: ScalarField, scanner: Scanner): void {
  if (field.kind !== 'text' && field.kind !== 'text_or_integer') {
    slot.problem = 'wrong_type';
  } else if (field.isRequired !== true || scanner.stringEnd > scanner.stringStart) {
    slot.problem = undefined;
    if (field.isKept === true) slot.text = scanner.text();
  }
}

function takeNumber(slot: Slot, field: ScalarField, value: number): void {
  slot.problem = judgeNumber(field, value);
  if (slot.problem !== undefined || field.isKept !== true) return;
  if (field.kind === 'text_or_integer') slot.text = String(value);
  else slot.number = value;
}

function judgeNumber(field: ScalarField, value: number): InvalidReason | undefined {
  if (field.kind === 'text') return 'wrong_type';
  if (!Number.isInteger(value)) return Number.isFinite(value) ? 'wrong_type' : 'out_of_range';
  if (!Number.isSafeInteger(value)) return 'out_of_range';
  return field.kind === 'count' && value < 0 ? 'out_of_range' : undefined;
}
