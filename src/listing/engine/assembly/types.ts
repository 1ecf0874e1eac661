import { decodeString } from './decoding';
import { areTextsEqual } from './hashing';
import { COLON } from './json-bytes';
import {
  allocate,
  copyBytes,
  fillBytes,
  readBlock,
  readByte,
  readU16,
  readU32,
  writeByte,
  writeU32,
} from './memory';
import { reserveScratch } from './scratch';

/*
 * Record types: tables of the fields of one kind of record. The host fills them from its table of fields; nothing else of
 * the module knows a field.
 */

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
  /** 0 missing, 1 the text of `match.ts`, 2 another. */
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

/** A field: the bytes of its key up to the value (`"name":`), a mask for them, and these. */
const KEY_MASK: usize = 32;
const KEY_LENGTH: usize = 64;
const KIND: usize = 68;
const BIT: usize = 72;
/** The record type of a list, and how many of its elements are kept. */
const CHILD: usize = 76;
const LIMIT: usize = 80;
/** The field that followed this one the last time. */
const FOLLOWER: usize = 84;
/** Text of the last object that is part of its identity. */
const TEXT_AT: usize = 88;
const TEXT_LENGTH: usize = 92;
/** Whether no label is added to the label table for this field. */
const CLOSED: usize = 96;
/** Addresses of up to three columns. */
const COLUMNS: usize = 100;
/** The record type of the field. */
const TYPE: usize = 112;
const FIELD_BYTES: usize = 128;

/** A record type begins with a field that stands before the first one, followed by these and by its fields. */
const FIELD_COUNT: usize = FIELD_BYTES;
const UNKNOWN_COUNT: usize = FIELD_BYTES + 4;
const NEXT_TYPE: usize = FIELD_BYTES + 8;
/** Fields by what they are, as bit sets. */
const WRITTEN: usize = FIELD_BYTES + 12;
const LISTS: usize = FIELD_BYTES + 16;
const REQUIRED: usize = FIELD_BYTES + 20;
/** The identity: number of fields, then their addresses. */
const IDENTITY_COUNT: usize = FIELD_BYTES + 24;
const IDENTITY_FIELDS: usize = FIELD_BYTES + 28;
const MAX_IDENTITY_FIELDS: u32 = 4;
/** What `columns.ts` keeps of the type. */
export const COLUMN_STATE: usize = FIELD_BYTES + 44;
export const COLUMN_STATE_BYTES: usize = 52;
const FIRST_FIELD: usize = COLUMN_STATE + COLUMN_STATE_BYTES;
/** Limits of a table, which the host checks. Bit sets of fields have 32 bits. */
const MAX_FIELDS: u32 = 16;
const MAX_KEY_LENGTH: u32 = 32;
/** Fields that unknown keys get, so that they are expected, too. */
const MAX_UNKNOWN: u32 = 4;

export let lastType: usize = 0;

export function createType(): usize {
  const type = allocate(FIRST_FIELD + <usize>(MAX_FIELDS + MAX_UNKNOWN) * FIELD_BYTES);
  writeU32(type + NEXT_TYPE, <u32>lastType);
  lastType = type;
  return type;
}

/** The type that was created before this one; 0 for the first. */
export function typeBefore(type: usize): usize {
  return readU32(type + NEXT_TYPE);
}

/** The body: its members are the fields. */
export const root = createType();

/** Where the host puts the key of the field that it adds, with quotes. */
export const keyBuffer = allocate(MAX_KEY_LENGTH + 16);

/** Adds a field, in the order in which the service writes them. */
export function addField(type: usize, keyLength: u32, kind: u32, child: usize, limit: u32): usize {
  const count = countFields(type);
  if (count == MAX_FIELDS || readU32(type + UNKNOWN_COUNT) > 0 || keyLength >= MAX_KEY_LENGTH) unreachable();
  const field = fieldAt(type, count);
  const bit: u32 = 1 << count;
  copyBytes(field, keyBuffer, keyLength);
  endKey(field, keyLength);
  writeU32(field + KIND, kind);
  writeU32(field + BIT, bit);
  writeU32(field + CHILD, <u32>child);
  writeU32(field + LIMIT, limit);
  writeU32(field + TYPE, <u32>type);
  writeU32(field + FOLLOWER, <u32>field);
  setFollower(count == 0 ? type : fieldAt(type, count - 1), field);
  if ((kind & (Kind.WRITTEN | Kind.IDENTITY)) != 0) addBit(type + WRITTEN, bit);
  if ((kind & Kind.LIST) != 0) addBit(type + LISTS, bit);
  if ((kind & Kind.REQUIRED) != 0) addBit(type + REQUIRED, bit);
  writeU32(type + FIELD_COUNT, count + 1);
  return field;
}

function addBit(at: usize, bit: u32): void {
  writeU32(at, readU32(at) | bit);
}

/** Adds a field to the identity of a type; the order matters. */
export function addIdentityField(type: usize, field: usize): void {
  const count = countIdentityFields(type);
  if (count == MAX_IDENTITY_FIELDS) unreachable();
  writeU32(type + IDENTITY_FIELDS + ((<usize>count) << 2), <u32>field);
  writeU32(type + IDENTITY_COUNT, count + 1);
}

export function countIdentityFields(type: usize): u32 {
  return readU32(type + IDENTITY_COUNT);
}

export function identityFieldAt(type: usize, index: u32): usize {
  return readU32(type + IDENTITY_FIELDS + ((<usize>index) << 2));
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

export function countFields(type: usize): u32 {
  return readU32(type + FIELD_COUNT);
}

export function fieldAt(type: usize, index: u32): usize {
  return type + FIRST_FIELD + <usize>index * FIELD_BYTES;
}

export function writtenOf(type: usize): u32 {
  return readU32(type + WRITTEN);
}

export function listsOf(type: usize): u32 {
  return readU32(type + LISTS);
}

export function requiredOf(type: usize): u32 {
  return readU32(type + REQUIRED);
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

export function childOf(field: usize): usize {
  return readU32(field + CHILD);
}

export function limitOf(field: usize): u32 {
  return readU32(field + LIMIT);
}

/** The record type of a field. */
export function typeOf(field: usize): usize {
  return readU32(field + TYPE);
}

export function followerOf(field: usize): usize {
  return <usize>readU32(field + FOLLOWER);
}

export function setFollower(field: usize, follower: usize): void {
  writeU32(field + FOLLOWER, <u32>follower);
}

/** Sets whether new labels of a field are those beyond a limit. */
export function setClosed(field: usize, mustClose: bool): void {
  writeU32(field + CLOSED, mustClose ? 1 : 0);
}

export function isClosed(field: usize): bool {
  return readU32(field + CLOSED) != 0;
}

/** Address of a column of a field. */
export function columnAt(field: usize, number: u32): usize {
  return readU32(field + COLUMNS + ((<usize>number) << 2));
}

/** Address of the first column of a field. */
export function columnOf(field: usize): usize {
  return readU32(field + COLUMNS);
}

export function setColumn(field: usize, number: u32, column: usize): void {
  writeU32(field + COLUMNS + ((<usize>number) << 2), <u32>column);
}

export function setText(field: usize, text: usize, length: u32): void {
  writeU32(field + TEXT_AT, <u32>text);
  writeU32(field + TEXT_LENGTH, length);
}

/** Address of a field's text. */
export function textOf(field: usize): usize {
  return <usize>readU32(field + TEXT_AT);
}

/** Length of a field's text, with flags. */
export function lengthOf(field: usize): u32 {
  return readU32(field + TEXT_LENGTH);
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
