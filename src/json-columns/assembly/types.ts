import { areTextsEqual } from './hashing';
import { COLON } from './json-bytes';
import { allocate, copyBytes, fillBytes, readBlock, readByte, readU16, writeByte } from './memory';
import { decodeString, reserveScratch } from './texts';

/* Record types: the fields of one kind of record, from the host; nothing else of the module knows a field. */

/** Values that a field admits, and what is written of them, as a bit set. The host has the same numbers. */
export const enum Kind {
  /** A string; an empty one is missing. */
  TEXT = 1,
  NUMBER = 2,
  /** Any JSON value, which is skipped. */
  UNUSED = 4,
  LIST = 8,
  /** A number that is an integer and exact in a double. */
  INTEGER = 16 | 2,
  /** A number from 0 on. */
  NOT_NEGATIVE = 32 | 2,
  /** A string, which may be empty. */
  EMPTY_TEXT = 64 | 1,

  /** Columns: id of the text or number as a label value. */
  LABEL = 0x100,
  /** Id of the scheme of a URL as a label value. */
  SCHEME = 0x200,
  /** 0 missing, 1 the text to compare with, 2 another. */
  MATCH = 0x400,
  /** The number as a double. */
  VALUE = 0x800,
  /** Address of the text in the window, and its length with flags. */
  RANGE = 0x1000,
  WRITTEN = 0x1f00 | 8,

  /** The text is part of the identity of the record. */
  IDENTITY = 0x2000,
  /** An element without it is rejected. */
  REQUIRED = 0x4000,
}

/** A field of a record type, at an address of the module. Its members are not checked by the debug build. */
@unmanaged
export class Field {
  /** The bytes of the key up to the value (`"name":`), and a mask for them. */
  firstKey: v128;
  secondKey: v128;
  firstMask: v128;
  secondMask: v128;
  /** Length of the key with quotes and colon. */
  keyLength: u32;
  kind: u32;
  bit: u32;
  type: RecordType;
  /** The record type of a list, and how many of its elements are kept. */
  child: RecordType;
  limit: u32;
  /** The field that followed this one the last time. */
  follower: Field;
  /** Text of the last object that is part of its identity, and its length with flags. */
  text: usize;
  textLength: u32;
  nextOfIdentity: Field;
  /** Labels of the body that this field has added to the label table. */
  addedLabels: u32;
  /** Addresses of columns, which a field has up to three of. */
  column: usize;
  secondColumn: usize;
  thirdColumn: usize;
  fourthColumn: usize;
}

/**
 * A record type, followed by its fields. It begins with a field before the first one, whose columns are those
 * of each record: bit sets of valid and of invalid fields, number of the element, identity.
 */
@unmanaged
export class RecordType extends Field {
  /** The type that was created before this one. */
  previous: RecordType;
  fieldCount: u32;
  /** Fields by what they are, as bit sets. */
  written: u32;
  lists: u32;
  required: u32;
  /** The fields of the identity are a linked list. */
  firstOfIdentity: Field;
  lastOfIdentity: Field;

  /** Complete rows of the batch, and how many the columns can have. */
  rows: u32;
  capacity: u32;
  /** Whether a row of the batch has an invalid field or a list with a rejected element. */
  hasInvalid: bool;
  /** Of a list of the body: number of its first element, and address of its counts by reason. */
  firstEntry: u32;
  dropped: usize;
}

/** Limits of a table, which the host checks. Bit sets of fields have 32 bits. */
const MAX_FIELDS: u32 = 16;
const MAX_KEY_LENGTH: u32 = 32;

/** Number of reasons why an element is dropped. */
export const DROP_REASONS: usize = 5;

const TYPE_BYTES: usize = (offsetof<RecordType>() + 15) & ~15;
const FIELD_BYTES: usize = (offsetof<Field>() + 15) & ~15;
export let lastType: RecordType = changetype<RecordType>(0);

export function createType(): RecordType {
  const type = changetype<RecordType>(allocate(TYPE_BYTES + <usize>MAX_FIELDS * FIELD_BYTES));
  type.type = type;
  type.dropped = allocate(DROP_REASONS * 4);
  type.previous = lastType;
  lastType = type;
  return type;
}

/** The body: its members are the fields. */
export const root = createType();

/** Where the host puts the key of the field that it adds, with quotes. */
export const keyBuffer = allocate(MAX_KEY_LENGTH + 16);

/** Whether a type or a field is none: the end of a list, or an unknown key. */
export function isNone(field: Field): bool {
  return changetype<usize>(field) == 0;
}

export function fieldAt(type: RecordType, index: u32): Field {
  return changetype<Field>(changetype<usize>(type) + TYPE_BYTES + <usize>index * FIELD_BYTES);
}

/** Adds a field, in the order in which the service writes them. */
export function addField(type: RecordType, keyLength: u32, kind: u32, child: RecordType, limit: u32): Field {
  const count = type.fieldCount;
  if (count == MAX_FIELDS || keyLength >= MAX_KEY_LENGTH) unreachable();
  const field = fieldAt(type, count);
  const bit: u32 = 1 << count;
  const key = changetype<usize>(field);
  copyBytes(key, keyBuffer, keyLength);
  writeByte(key + keyLength, COLON);
  fillBytes(key + offsetof<Field>('firstMask'), 0xff, keyLength + 1);
  field.keyLength = keyLength + 1;
  field.follower = field;
  field.kind = kind;
  field.bit = bit;
  field.child = child;
  field.limit = limit;
  field.type = type;
  const before: Field = count == 0 ? type : fieldAt(type, count - 1);
  before.follower = field;
  if ((kind & (Kind.WRITTEN | Kind.IDENTITY)) != 0) type.written |= bit;
  if ((kind & Kind.LIST) != 0) type.lists |= bit;
  if ((kind & Kind.REQUIRED) != 0) type.required |= bit;
  type.fieldCount = count + 1;
  return field;
}

/** Adds a field to the identity of a type; the order matters. */
export function addIdentityField(type: RecordType, field: Field): void {
  if (isNone(type.firstOfIdentity)) type.firstOfIdentity = field;
  else type.lastOfIdentity.nextOfIdentity = field;
  type.lastOfIdentity = field;
}

export function isKeyAt(field: Field, at: usize): bool {
  const first = v128.and(v128.xor(readBlock(at), field.firstKey), field.firstMask);
  if (field.keyLength <= 16) return !v128.any_true(first);
  const second = v128.and(v128.xor(readBlock(at + 16), field.secondKey), field.secondMask);
  return !v128.any_true(v128.or(first, second));
}

/** Finds a field by its key from the opening quote to the closing one; returns none for an unknown key. */
export function findField(type: RecordType, key: usize, length: u32): Field {
  for (let index: u32 = 0; index < type.fieldCount; index += 1) {
    const field = fieldAt(type, index);
    if (field.keyLength == length + 1 && areTextsEqual(changetype<usize>(field), key, length)) return field;
  }
  return changetype<Field>(0);
}

/** Finds a field by a key with escapes; `length` is that of the text between the quotes. */
export function findEscapedField(type: RecordType, text: usize, length: u32): Field {
  const units = reserveScratch(length);
  const unitCount = decodeString(text, length, units);
  for (let index: u32 = 0; index < type.fieldCount; index += 1) {
    const field = fieldAt(type, index);
    if (field.keyLength == unitCount + 3 && hasUnits(changetype<usize>(field) + 1, units, unitCount))
      return field;
  }
  return changetype<Field>(0);
}

function hasUnits(bytes: usize, units: usize, count: u32): bool {
  for (let index: usize = 0; index < count; index += 1) {
    if (readU16(units + 2 * index) != readByte(bytes + index)) return false;
  }
  return true;
}
