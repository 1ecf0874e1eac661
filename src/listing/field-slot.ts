import type { InvalidReason } from './records.ts';
import type { Scanner } from './scanner.ts';

/** A field that holds one value; see `interface.ts` for what each kind admits. */
interface ScalarField {
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
interface ListField {
  readonly kind: 'list';
  readonly isRequired: true;
  readonly elements: ElementReader;
}

export type Field = ScalarField | ListField;

/** What takes the elements of a list within a record. */
export interface ElementReader {
  /** A list begins: forget what an earlier one held. */
  begin(): void;
  /** Reads one element. */
  read(scanner: Scanner): void;
}

/** What the object being read holds for a field. */
export class Slot {
  readonly field: Field;
  /** Its bit in sets of fields. */
  readonly bit: number;
  /** A text that is not kept. */
  readonly isDropped: boolean;
  readonly takesText: boolean;
  readonly takesNumber: boolean;
  readonly keep: ScalarField['keep'];
  text: string | undefined = undefined;
  number: number | undefined = undefined;
  /** Holds if the field is in the set of those that have a problem. */
  problem: InvalidReason = 'wrong_type';

  constructor(field: Field, index: number) {
    const { kind } = field;
    this.field = field;
    this.bit = 1 << index;
    this.isDropped = kind === 'text' && field.keep === undefined && field.isRequired !== true;
    this.takesText = kind === 'text' || kind === 'text_or_integer';
    this.takesNumber = kind === 'integer' || kind === 'count';
    this.keep = kind === 'list' ? undefined : field.keep;
  }
}

/** The bits of some fields. */
export function setOf(slots: readonly Slot[]): number {
  return slots.reduce((set, { bit }) => set | bit, 0);
}

/** Why a number is no value of a field; `undefined` if it is one. */
export function problemOf({ kind }: Field, value: number): InvalidReason | undefined {
  if (kind === 'text') return 'wrong_type';
  if (!Number.isInteger(value)) return Number.isFinite(value) ? 'wrong_type' : 'out_of_range';
  if (!Number.isSafeInteger(value)) return 'out_of_range';
  return kind === 'count' && value < 0 ? 'out_of_range' : undefined;
}
