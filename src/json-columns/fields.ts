/* The table of fields that an engine reads. `types.ts` of the module has the same numbers. */

const TEXT = 1;
const NUMBER = 2;
const UNUSED = 4;
const LIST = 8;
const INTEGER = 16 | NUMBER;
const NOT_NEGATIVE = 32 | NUMBER;
const EMPTY_TEXT = 64 | TEXT;
const LABEL = 0x100;
const SCHEME = 0x200;
const MATCH = 0x400;
const VALUE = 0x800;
const RANGE = 0x1000;
const IDENTITY = 0x2000;
const REQUIRED = 0x4000;

/** Limits of the module: fields of a record type, and bytes of a key. */
const MAX_FIELDS = 16;
const MAX_KEY_BYTES = 29;

declare const KIND: unique symbol;

/** Ids of label values; 0 is a missing one. */
export type LabelColumn = Uint32Array & { readonly [KIND]: 'label' };

/** Numbers; a missing one is negative or NaN. */
export type NumberColumn = Float64Array & { readonly [KIND]: 'number' };

/** A list in columns: the rows of a parent are those from the end of the parent before it. */
export interface ListColumn {
  readonly ends: Uint32Array;
  /** Elements beyond a limit, and those that are no objects. */
  readonly surplus: Uint32Array;
  readonly rejected: Uint32Array;
}

/** A text of the body, valid while the batch is taken; a missing one has length 0. */
export interface TextColumn {
  readonly addresses: Uint32Array;
  /** With flags. */
  readonly lengths: Uint32Array;
}

/** The kind of a field, and its column. */
export interface Field<Column> {
  readonly kind: number;
  readonly child?: RecordType;
  /** Elements of a list of one record that are kept. */
  readonly limit?: number;
  /** Never set: the type of the column. */
  readonly column?: Column;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** A record type: its fields in the order in which they are usually written. */
export interface RecordType<F extends Fields = Fields> {
  readonly name: string;
  readonly fields: F;
  /** The fields whose texts identify a record within its parent; their order matters. */
  readonly identity: readonly string[];
}

/** The rows of a record type in one batch. */
export type Columns<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer Column> ? Column : never;
} & {
  readonly rows: number;
  /** Hash of the fields of the identity. */
  readonly identity: Float64Array;
  /** Valid fields as a bit set, in the order of the table. */
  readonly valid: Uint32Array;
  /** Number of the element among those of all lists of the body. */
  readonly entry: Uint32Array;
};

export type ColumnsOf<R> = R extends RecordType<infer F> ? Columns<F> : never;

/** Declares a record type. Throws a `RangeError` that names the field that the module cannot take. */
export function record<F extends Fields>(
  name: string,
  fields: F,
  identity: readonly (keyof F & string)[] = [],
): RecordType<F> {
  for (const [index, field] of Object.keys(fields).entries()) {
    if (index >= MAX_FIELDS)
      throw new RangeError(
        `Expected at most ${MAX_FIELDS} fields of "${name}", found "${field}" beyond them`,
      );
    if (!/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(field) || field.length > MAX_KEY_BYTES)
      throw new RangeError(
        `Expected a field of "${name}" with 1 to ${MAX_KEY_BYTES} ASCII characters, found "${field}"`,
      );
  }
  return { name, fields, identity };
}

/** Any value; it is skipped. */
export const unused: Field<undefined> = { kind: UNUSED };
/** Id of a label value; 0 if it is missing. */
export const label: Field<LabelColumn> = { kind: TEXT | LABEL };
export const labelOrInteger: Field<LabelColumn> = { kind: TEXT | INTEGER | LABEL };
export const integerLabel: Field<LabelColumn> = { kind: INTEGER | LABEL };
export const countLabel: Field<LabelColumn> = { kind: INTEGER | NOT_NEGATIVE | LABEL };
/** Id of the scheme of a URL, which may be empty. */
export const scheme: Field<LabelColumn> = { kind: EMPTY_TEXT | SCHEME };
/** 0 missing, 1 the text to compare with, 2 another one. */
export const match: Field<Uint32Array> = { kind: TEXT | MATCH };
/** A number from 0 on; -1 if it is missing. */
export const number: Field<NumberColumn> = { kind: NOT_NEGATIVE | VALUE };
export const count: Field<NumberColumn> = { kind: INTEGER | NOT_NEGATIVE | VALUE };
/** NaN if it is missing. */
export const integer: Field<NumberColumn> = { kind: INTEGER | VALUE };
/** A text that is only compared: it becomes a part of the identity of its element. */
export const identifying: Field<undefined> = { kind: TEXT };
export const text: Field<TextColumn> = { kind: TEXT | RANGE };
/** A text or a number, which the host takes. Only in the body. */
export const scalar: Field<undefined> = { kind: NUMBER | TEXT };

/** A field without which an element is rejected. */
export function required<Column>(field: Field<Column>): Field<Column> {
  return { ...field, kind: field.kind | REQUIRED };
}

/** A list of records, of which `limit` are kept. */
export function list(child: RecordType, limit: number): Field<ListColumn> {
  return { kind: LIST, child, limit };
}

/** The kind of a field as the module takes it. */
export function kindOf({ fields, identity }: RecordType, name: string): number {
  const kind = fields[name]?.kind ?? UNUSED;
  return identity.includes(name) ? kind | IDENTITY : kind;
}

/** The size in bytes of each column of a field. */
export function listColumnWidths(kind: number): readonly number[] {
  if ((kind & LIST) !== 0) return [4, 4, 4];
  if ((kind & RANGE) !== 0) return [4, 4];
  if ((kind & VALUE) !== 0) return [8];
  return (kind & (LABEL | SCHEME | MATCH)) === 0 ? [] : [4];
}

/** The bit of a field in a set of fields. */
export function bitOf<F extends Fields>({ fields }: RecordType<F>, name: keyof F & string): number {
  return 1 << Object.keys(fields).indexOf(name);
}

export function listCheckedFields({ fields }: RecordType): readonly string[] {
  return Object.keys(fields).filter((name) => ((fields[name]?.kind ?? 0) & (UNUSED | REQUIRED)) === 0);
}
