import { decodeString } from './decoding';
import { COLON, QUOTE } from './json-bytes';
import {
  allocate,
  copyBytes,
  fillBytes,
  readBlock,
  readByte,
  readF64,
  readU16,
  readU32,
  writeByte,
  writeF64,
  writeU32,
} from './memory';
import { reserveScratch } from './scratch';
import { areTextsEqual } from './hashing';

/*
 * Record types: tables of the fields of one kind of record, with the values of the object that was read last. The host
 * reads the names of fields from here, so that each is written once.
 */

/** Values that a field admits, as a bit set; `interface.ts` has the schema of each field. */
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
  TEXT_OR_INTEGER = 16 | 2 | 1,
  COUNT = 32 | 16 | 2,
}

/** A field: the bytes of its key up to the value (`"name":`), a mask for them, and these. */
const KEY_MASK: usize = 32;
const KEY_LENGTH: usize = 64;
const KIND: usize = 68;
const BIT: usize = 72;
const LIST: usize = 76;
/** The field that followed this one the last time. */
const FOLLOWER: usize = 80;
/** Address of the text in the window, its length with flags, and the value of a number. */
const TEXT_AT: usize = 84;
const TEXT_LENGTH: usize = 88;
const NUMBER: usize = 96;
const FIELD_BYTES: usize = 112;

/**
 * A record type begins with a field that stands before the first one, followed by these and by its fields. After the
 * fields of the specification come the unknown keys that were read first: a service that adds fields has few of them.
 */
const FIELD_COUNT: usize = FIELD_BYTES;
const PRESENT: usize = FIELD_BYTES + 4;
const INVALID: usize = FIELD_BYTES + 8;
const UNKNOWN_COUNT: usize = FIELD_BYTES + 12;
const FIRST_FIELD: usize = FIELD_BYTES + 16;
const MAX_FIELDS: usize = 16;
const MAX_UNKNOWN: u32 = 4;
const MAX_KEY_LENGTH: u32 = 32;

export function createRecordType(): usize {
  return allocate(FIRST_FIELD + (MAX_FIELDS + MAX_UNKNOWN) * FIELD_BYTES);
}

/** Adds a field, in the order in which the service writes them; `list` is passed to the reader of a list. */
export function addField(type: usize, name: string, kind: u32, list: u32 = 0): usize {
  const count = countFields(type);
  const field = fieldAt(type, count);
  const length = <u32>name.length;
  writeByte(field, QUOTE);
  for (let index: u32 = 0; index < length; index += 1)
    writeByte(field + 1 + index, name.charCodeAt(<i32>index));
  writeByte(field + length + 1, QUOTE);
  endKey(field, length + 2);
  writeU32(field + KIND, kind);
  writeU32(field + BIT, 1 << count);
  writeU32(field + LIST, list);
  writeU32(field + FOLLOWER, <u32>field);
  setFollower(count == 0 ? type : fieldAt(type, count - 1), field);
  writeU32(type + FIELD_COUNT, count + 1);
  return field;
}

/** Completes a key that ends with its closing quote. */
function endKey(field: usize, length: u32): void {
  writeByte(field + length, COLON);
  fillBytes(field + KEY_MASK, 0xff, length + 1);
  writeU32(field + KEY_LENGTH, length + 1);
}

/**
 * Adds a field for an unknown key, from its opening quote to the closing one. Returns 0 if it is too long, or if the type
 * has enough of them.
 */
export function addUnknownField(type: usize, key: usize, length: u32): usize {
  const unknown = readU32(type + UNKNOWN_COUNT);
  if (unknown == MAX_UNKNOWN || length >= MAX_KEY_LENGTH) return 0;
  const field = fieldAt(type, countFields(type) + unknown);
  copyBytes(field, key, length);
  endKey(field, length);
  writeU32(field + KIND, Kind.UNUSED);
  writeU32(field + FOLLOWER, <u32>field);
  writeU32(type + UNKNOWN_COUNT, unknown + 1);
  return field;
}

/** Number of the fields of the specification. */
export function countFields(type: usize): u32 {
  return readU32(type + FIELD_COUNT);
}

export function fieldAt(type: usize, index: u32): usize {
  return type + FIRST_FIELD + <usize>index * FIELD_BYTES;
}

/** Length of a field's key with quotes and colon. */
export function keyLengthOf(field: usize): u32 {
  return readU32(field + KEY_LENGTH);
}

export function kindOf(field: usize): u32 {
  return readU32(field + KIND);
}

export function bitOf(field: usize): u32 {
  return readU32(field + BIT);
}

export function listOf(field: usize): u32 {
  return readU32(field + LIST);
}

export function followerOf(field: usize): usize {
  return <usize>readU32(field + FOLLOWER);
}

export function setFollower(field: usize, follower: usize): void {
  writeU32(field + FOLLOWER, <u32>follower);
}

/** Whether the key of a field is at an address. */
export function isKeyAt(field: usize, at: usize): bool {
  const first = v128.and(v128.xor(readBlock(at), readBlock(field)), readBlock(field + KEY_MASK));
  if (keyLengthOf(field) <= 16) return !v128.any_true(first);
  const second = v128.and(
    v128.xor(readBlock(at + 16), readBlock(field + 16)),
    readBlock(field + KEY_MASK + 16),
  );
  return !v128.any_true(v128.or(first, second));
}

/** Finds a field by its key from the opening quote to the closing one; returns 0 for an unknown key. */
export function findField(type: usize, key: usize, length: u32): usize {
  const count = countFields(type) + readU32(type + UNKNOWN_COUNT);
  for (let index: u32 = 0; index < count; index += 1) {
    const field = fieldAt(type, index);
    if (keyLengthOf(field) == length + 1 && areTextsEqual(field, key, length)) return field;
  }
  return 0;
}

/** Finds a field by a key with escapes; `length` is that of the text between the quotes. */
export function findEscapedField(type: usize, text: usize, length: u32): usize {
  const units = reserveScratch(length);
  const unitCount = decodeString(text, length, units);
  const count = countFields(type);
  for (let index: u32 = 0; index < count; index += 1) {
    const field = fieldAt(type, index);
    if (keyLengthOf(field) == unitCount + 3 && hasUnits(field, units, unitCount)) return field;
  }
  return 0;
}

function hasUnits(field: usize, units: usize, count: u32): bool {
  for (let index: usize = 0; index < count; index += 1) {
    if (readU16(units + 2 * index) != readByte(field + 1 + index)) return false;
  }
  return true;
}

/** Sets the fields that the last object has, and those that are invalid, as bit sets. */
export function setFields(type: usize, present: u32, invalid: u32): void {
  writeU32(type + PRESENT, present & ~invalid);
  writeU32(type + INVALID, invalid);
}

export function invalidFieldsOf(type: usize): u32 {
  return readU32(type + INVALID);
}

/** Whether the last object has a valid value for a field. */
export function hasField(type: usize, field: usize): bool {
  return (readU32(type + PRESENT) & bitOf(field)) != 0;
}

export function setText(field: usize, text: usize, length: u32): void {
  writeU32(field + TEXT_AT, <u32>text);
  writeU32(field + TEXT_LENGTH, length);
}

export function setNumber(field: usize, value: f64): void {
  writeF64(field + NUMBER, value);
}

/** Address of a field's text. */
export function textOf(field: usize): usize {
  return <usize>readU32(field + TEXT_AT);
}

/** Length of a field's text, with flags. */
export function lengthOf(field: usize): u32 {
  return readU32(field + TEXT_LENGTH);
}

export function numberOf(field: usize): f64 {
  return readF64(field + NUMBER);
}
