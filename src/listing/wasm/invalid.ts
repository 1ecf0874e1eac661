import { countFields, invalidFieldsOf } from './fields';
import { addU32, allocate, fillBytes, readU32, writeU32 } from './memory';

/*
 * Counts of rejected entries and of invalid fields, by kind of record. A nested entry counts only if its task does, so
 * its counts are collected in a `NestedCounts` first.
 */

/** Kinds of records; the host has them in the same order. */
export const enum RecordKind {
  USER = 0,
  TASK = 1,
  INPUT = 2,
  OUTPUT = 3,
  STREAM = 4,
}

/** Why an entry was rejected; the host has the reasons in the same order. */
export const enum Reason {
  NOT_AN_OBJECT = 0,
  MISSING_FIELD = 1,
  WRONG_TYPE = 2,
  TOO_LONG = 3,
  DUPLICATE_ID = 4,
}

const KINDS: usize = 5;
const REASONS: usize = 5;
const FIELDS: usize = 16;

/** Whether any of the counts is not 0. */
export let hasInvalid: bool = false;

/** Rejected entries: a u32 for each reason of each kind. */
export const rejected = allocate(KINDS * REASONS * 4);
/** Invalid fields: a u32 for each field of each kind. */
export const invalidFields = allocate(KINDS * FIELDS * 4);

/** The first rejected entries: kind, reason, and index of the element of its list. */
export const firstRejected = allocate(16 * 5);
export let firstRejectedCount: u32 = 0;
const MAX_FIRST_REJECTED: u32 = 5;
/** Index of the element being read. */
let entryIndex: u32 = 0;

export function clearInvalid(): void {
  if (!hasInvalid) return;
  hasInvalid = false;
  fillBytes(rejected, 0, KINDS * REASONS * 4);
  fillBytes(invalidFields, 0, KINDS * FIELDS * 4);
  firstRejectedCount = 0;
}

/** Starts `user_list` or `task_list`. */
export function beginEntries(): void {
  entryIndex = 0;
}

/** Ends an element of `user_list` or `task_list`. */
export function endEntry(): void {
  entryIndex += 1;
}

export function reject(kind: u32, reason: u32, count: u32 = 1): void {
  hasInvalid = true;
  addU32(rejected + (<usize>kind * REASONS + <usize>reason) * 4, count);
  for (let noted: u32 = 0; noted < count && firstRejectedCount < MAX_FIRST_REJECTED; noted += 1) {
    const entry = firstRejected + <usize>firstRejectedCount * 16;
    writeU32(entry, kind);
    writeU32(entry + 4, reason);
    writeU32(entry + 8, entryIndex);
    firstRejectedCount += 1;
  }
}

/** Counts the invalid fields of the last object of a type. */
export function countInvalidFields(kind: u32, type: usize): void {
  if (invalidFieldsOf(type) == 0) return;
  hasInvalid = true;
  addFields(invalidFields + <usize>kind * FIELDS * 4, type);
}

function addFields(counts: usize, type: usize): void {
  const bits = invalidFieldsOf(type);
  const fieldCount = countFields(type);
  for (let index: u32 = 0; index < fieldCount; index += 1) {
    if ((bits & (1 << index)) != 0) addU32(counts + <usize>index * 4, 1);
  }
}

/** Nested counts: whether any is not 0, entries that are no objects, and invalid fields. */
const HAS_ANY: usize = 0;
const NOT_OBJECTS: usize = 4;
const FIELD_COUNTS: usize = 16;
const NESTED_BYTES: usize = FIELD_COUNTS + FIELDS * 4;

export function createNestedCounts(): usize {
  return allocate(NESTED_BYTES);
}

export function clearNested(counts: usize): void {
  if (readU32(counts + HAS_ANY) != 0) fillBytes(counts, 0, NESTED_BYTES);
}

export function rejectNested(counts: usize): void {
  writeU32(counts + HAS_ANY, 1);
  addU32(counts + NOT_OBJECTS, 1);
}

/** Counts the invalid fields of the last object of a type. */
export function countNestedFields(counts: usize, type: usize): void {
  if (invalidFieldsOf(type) == 0) return;
  writeU32(counts + HAS_ANY, 1);
  addFields(counts + FIELD_COUNTS, type);
}

/** Adds nested counts to others. */
export function addNested(from: usize, to: usize): void {
  if (readU32(from + HAS_ANY) == 0) return;
  for (let at: usize = 0; at < NESTED_BYTES; at += 4) addU32(to + at, readU32(from + at));
}

/** Adds nested counts to those of the listing. */
export function commitNested(kind: u32, counts: usize): void {
  if (readU32(counts + HAS_ANY) == 0) return;
  hasInvalid = true;
  const notObjects = readU32(counts + NOT_OBJECTS);
  if (notObjects > 0) reject(kind, Reason.NOT_AN_OBJECT, notObjects);
  const fields = invalidFields + <usize>kind * FIELDS * 4;
  for (let at: usize = 0; at < FIELDS * 4; at += 4) addU32(fields + at, readU32(counts + FIELD_COUNTS + at));
}
