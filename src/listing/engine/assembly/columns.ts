import { maxRows } from './limits';
import { addU32, enlarge, fillBytes, readU32, writeF64, writeU32 } from './memory';
import {
  childOf,
  COLUMN_STATE,
  columnAt,
  columnOf,
  countFields,
  countIdentityFields,
  fieldAt,
  Kind,
  kindOf,
  lastType,
  listsOf,
  root,
  setColumn,
  setText,
  typeBefore,
  typeOf,
  writtenOf,
} from './types';

/*
 * The columns of the record types: what the host takes of a batch. A row counts once its element is complete; until then,
 * the rows of its parts are behind those that count. A list has the end of its rows in the columns of its record type,
 * so the rows of a parent are those from the end of the parent before it.
 */

const ROWS: usize = COLUMN_STATE;
const CAPACITY: usize = COLUMN_STATE + 4;
/** Addresses of columns that are not of one field: bit sets of fields, identity, and number of the element. */
const INVALID: usize = COLUMN_STATE + 8;
const IDENTITY: usize = COLUMN_STATE + 12;
const ENTRY: usize = COLUMN_STATE + 16;
/** Whether a row of the batch has an invalid field or a list with a rejected element. */
const HAS_INVALID: usize = COLUMN_STATE + 20;
/** Rejected elements of the body, by reason; number of the first element; elements beyond the limit of rows. */
const REJECTED: usize = COLUMN_STATE + 24;
const FIRST_ENTRY: usize = COLUMN_STATE + 40;
const SURPLUS: usize = COLUMN_STATE + 44;
/** Valid fields as a bit set: tells a missing label from one whose value is `unknown`. */
const VALID: usize = COLUMN_STATE + 48;
const REASONS: usize = 4;

const FIRST_CAPACITY: usize = 512;

/** Grows with each change of the address of a column. */
export let layout: u32 = 0;
/** Rows of the body so far, those that the host has taken included. */
let allRows: u32 = 0;

export function rowsOf(type: usize): u32 {
  return readU32(type + ROWS);
}

export function capacityOf(type: usize): u32 {
  return readU32(type + CAPACITY);
}

export function invalidColumnOf(type: usize): usize {
  return readU32(type + INVALID);
}

export function validColumnOf(type: usize): usize {
  return readU32(type + VALID);
}

export function identityColumnOf(type: usize): usize {
  return readU32(type + IDENTITY);
}

export function entryColumnOf(type: usize): usize {
  return readU32(type + ENTRY);
}

export function hasInvalid(type: usize): bool {
  return readU32(type + HAS_INVALID) != 0;
}

export function noteInvalid(type: usize): void {
  writeU32(type + HAS_INVALID, 1);
}

/** Bit set of the valid fields of the row that is not added yet. */
export function lastValidOf(type: usize): u32 {
  return readU32(validColumnOf(type) + ((<usize>rowsOf(type)) << 2));
}

export function lastInvalidOf(type: usize): u32 {
  return readU32(invalidColumnOf(type) + ((<usize>rowsOf(type)) << 2));
}

/** Counts of rejected elements by reason: four words. */
export function rejectedOf(type: usize): usize {
  return type + REJECTED;
}

export function firstEntryOf(type: usize): u32 {
  return readU32(type + FIRST_ENTRY);
}

export function setFirstEntry(type: usize, entry: u32): void {
  writeU32(type + FIRST_ENTRY, entry);
}

/** Elements of a list of the body beyond the limit of rows. */
export function surplusOf(type: usize): u32 {
  return readU32(type + SURPLUS);
}

export function countSurplus(type: usize): void {
  addU32(type + SURPLUS, 1);
}

/** Whether the body may have one more row. */
export function canAddRow(): bool {
  return allRows < maxRows;
}

/** Forgets what is counted of a body, and all rows. */
export function clearColumns(): void {
  for (let type = lastType; type != 0; type = typeBefore(type)) {
    fillBytes(type + REJECTED, 0, REASONS * 4);
    writeU32(type + SURPLUS, 0);
  }
  allRows = 0;
  clearRows();
}

/** Drops all rows: the host has taken them. */
export function clearRows(): void {
  for (let type = lastType; type != 0; type = typeBefore(type)) {
    writeU32(type + ROWS, 0);
    writeU32(type + HAS_INVALID, 0);
  }
}

/** Starts a row, which `addRow` ends; returns its number. */
export function beginRow(type: usize): u32 {
  const row = rowsOf(type);
  if (row == capacityOf(type)) grow(type, row);
  return row;
}

export function addRow(type: usize): void {
  writeU32(type + ROWS, rowsOf(type) + 1);
  allRows += 1;
}

/** Drops the rows from `rows` on, and those of their lists. */
export function truncateRows(type: usize, rows: u32): void {
  allRows -= rowsOf(type) - rows;
  writeU32(type + ROWS, rows);
  for (let lists = listsOf(type); lists != 0; lists &= lists - 1) {
    const field = fieldAt(type, ctz(lists));
    truncateRows(childOf(field), firstRowOf(field, rows));
  }
}

/** The first row of a list of a parent. */
export function firstRowOf(field: usize, parent: u32): u32 {
  return parent == 0 ? 0 : readU32(columnOf(field) + ((<usize>(parent - 1)) << 2));
}

export function writeWord(field: usize, row: u32, value: u32): void {
  checkRow(field, row);
  writeU32(columnOf(field) + ((<usize>row) << 2), value);
}

function writeWordAt(field: usize, number: u32, row: u32, value: u32): void {
  checkRow(field, row);
  writeU32(columnAt(field, number) + ((<usize>row) << 2), value);
}

export function writeDouble(field: usize, row: u32, value: f64): void {
  checkRow(field, row);
  writeF64(columnOf(field) + ((<usize>row) << 3), value);
}

/** Completes a row: `valid` and `invalid` are bit sets of its fields. */
export function endRow(type: usize, row: u32, valid: u32, invalid: u32): void {
  writeU32(validColumnOf(type) + ((<usize>row) << 2), valid);
  writeU32(invalidColumnOf(type) + ((<usize>row) << 2), invalid);
  if (invalid != 0) noteInvalid(type);
  for (let missing = writtenOf(type) & ~valid; missing != 0; missing &= missing - 1) {
    writeMissing(fieldAt(type, ctz(missing)), row);
  }
}

function writeMissing(field: usize, row: u32): void {
  const kind = kindOf(field);
  if ((kind & Kind.IDENTITY) != 0) setText(field, 0, 0);
  if ((kind & Kind.WRITTEN) == 0) return;
  if ((kind & Kind.VALUE) != 0) {
    writeDouble(field, row, (kind & Kind.NOT_NEGATIVE) == Kind.NOT_NEGATIVE ? -1 : NaN);
  } else if ((kind & Kind.LIST) != 0) {
    const start = firstRowOf(field, row);
    truncateRows(childOf(field), start);
    writeList(field, row, start, 0, 0);
  } else {
    writeWord(field, row, 0);
    if ((kind & Kind.RANGE) != 0) writeRange(field, row, 0, 0);
  }
}

/** Writes the end of a list, and how many of its elements were beyond the limit, and rejected. */
export function writeList(field: usize, row: u32, end: u32, surplus: u32, rejected: u32): void {
  writeWord(field, row, end);
  writeWordAt(field, 1, row, surplus);
  writeWordAt(field, 2, row, rejected);
}

/** Writes a text of the window and its length with flags. */
export function writeRange(field: usize, row: u32, text: usize, flagged: u32): void {
  writeWord(field, row, <u32>text);
  writeWordAt(field, 1, row, flagged);
}

export function writeIdentity(type: usize, row: u32, identity: f64): void {
  writeF64(identityColumnOf(type) + ((<usize>row) << 3), identity);
}

export function writeEntry(type: usize, row: u32, entry: u32): void {
  writeU32(entryColumnOf(type) + ((<usize>row) << 2), entry);
}

function grow(type: usize, rows: usize): void {
  const capacity = max<usize>(FIRST_CAPACITY, rows * 2);
  writeU32(type + CAPACITY, <u32>capacity);
  const fieldCount = countFields(type);
  for (let index: u32 = 0; index < fieldCount; index += 1) growField(fieldAt(type, index), rows, capacity);
  writeU32(type + INVALID, <u32>enlargeColumn(invalidColumnOf(type), rows, capacity, 4));
  writeU32(type + VALID, <u32>enlargeColumn(validColumnOf(type), rows, capacity, 4));
  writeU32(type + ENTRY, <u32>enlargeColumn(entryColumnOf(type), rows, capacity, 4));
  if (countIdentityFields(type) > 0)
    writeU32(type + IDENTITY, <u32>enlargeColumn(identityColumnOf(type), rows, capacity, 8));
  layout += 1;
}

/** Columns whose rows are at the same offset of a page would evict each other from the cache. */
const STAGGER: usize = 208;

function enlargeColumn(from: usize, rows: usize, capacity: usize, bytes: usize): usize {
  return enlarge(from, rows * bytes, capacity * bytes + STAGGER);
}

function growField(field: usize, rows: usize, capacity: usize): void {
  const kind = kindOf(field);
  if ((kind & Kind.WRITTEN) == 0) return;
  const bytes: usize = (kind & Kind.VALUE) != 0 ? 8 : 4;
  const columns: u32 = (kind & Kind.LIST) != 0 ? 3 : (kind & Kind.RANGE) != 0 ? 2 : 1;
  for (let number: u32 = 0; number < columns; number += 1) {
    setColumn(field, number, enlargeColumn(columnAt(field, number), rows, capacity, bytes));
  }
}

/** Debug build: a value belongs to the row that is being read, or to one that its list began before. */
function checkRow(field: usize, row: u32): void {
  assert(row <= rowsOf(typeOf(field)) && row < capacityOf(typeOf(field)));
}

/** Debug build: whether the rows of each list of a batch belong to its parents, in order and completely. */
export function areColumnsConsistent(): bool {
  for (let type = lastType; type != 0; type = typeBefore(type)) {
    if (rowsOf(type) > capacityOf(type)) return false;
    for (let lists = listsOf(type); lists != 0; lists &= lists - 1) {
      if (type != root && !areEndsConsistent(fieldAt(type, ctz(lists)), rowsOf(type))) return false;
    }
  }
  return true;
}

function areEndsConsistent(field: usize, parents: u32): bool {
  let end: u32 = 0;
  for (let parent: u32 = 1; parent <= parents; parent += 1) {
    const next = firstRowOf(field, parent);
    if (next < end) return false;
    end = next;
  }
  return end == rowsOf(childOf(field));
}
