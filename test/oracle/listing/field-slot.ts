import type { Scanner } from './scanner.ts';

/**
 * A field of a record. `label` and `label_or_integer` are interned texts, which repeat; `text` and `url` are copied.
 * An empty text is missing, except for `url`. `unused` fields may hold any JSON value and are skipped. `interface.ts`
 * has the schema of each field.
 */
export type Field =
  | {
      readonly kind:
        'label' | 'label_or_integer' | 'text' | 'url' | 'integer' | 'count' | 'number' | 'unused';
    }
  | { readonly kind: 'list'; readonly elements: ElementReader };

/** Reads the elements of a list within a record. */
export interface ElementReader {
  /** Starts a new list. */
  reset(): void;
  read(scanner: Scanner): void;
}

/** The state of a field in the object being read. */
export class FieldSlot {
  readonly name: string;
  readonly kind: Field['kind'];
  /** The field's bit in bit sets. */
  readonly bit: number;
  readonly elements: ElementReader | undefined;
  readonly isUnused: boolean;
  readonly isText: boolean;
  readonly isInterned: boolean;
  readonly isNumber: boolean;
  text: string | undefined = undefined;
  number: number | undefined = undefined;

  constructor(name: string, field: Field, index: number) {
    const { kind } = field;
    this.name = name;
    this.kind = kind;
    this.bit = 1 << index;
    this.elements = field.kind === 'list' ? field.elements : undefined;
    this.isUnused = kind === 'unused';
    this.isInterned = kind === 'label' || kind === 'label_or_integer';
    this.isText = this.isInterned || kind === 'text' || kind === 'url' || kind === 'unused';
    this.isNumber = kind === 'integer' || kind === 'count' || kind === 'number' || kind === 'unused';
  }

  clear(): void {
    this.text = undefined;
    this.number = undefined;
    this.elements?.reset();
  }

  /** Whether a number is a valid value of the field. */
  isValidNumber(value: number): boolean {
    switch (this.kind) {
      case 'number':
        return Number.isFinite(value) && value >= 0;
      case 'count':
        return Number.isSafeInteger(value) && value >= 0;
      case 'integer':
      case 'label_or_integer':
        return Number.isSafeInteger(value);
      case 'unused':
        return true;
      case 'label':
      case 'text':
      case 'url':
      case 'list':
        return false;
    }
  }
}
