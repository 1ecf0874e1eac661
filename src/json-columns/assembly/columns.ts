import { maxRows } from './host';
import { enlarge, fillBytes, readU32, writeF64, writeU32 } from './memory';
import { DROP_REASONS, Field, fieldAt, isNone, Kind, lastType, RecordType, root } from './types';

/*
 * The columns of the record types: what the host takes of a batch. A row counts once its element is
 * complete; until then, rows of its parts are behind those that count. A list has the end of its rows in the
 * columns of its record type: the rows of a parent are those from the end of the parent before it.
 */

const FIRST_CAPACITY: u32 = 512;

/** Grows with each change of the address of a column. */
export let layout: u32 = 0;
/** Rows of the body so far, those that the host has taken included. */
let allRows: u32 = 0;

export function rowsOf(type: RecordType): u32 {
  return type.rows;
}

export function capacityOf(type: RecordType): u32 {
  return type.capacity;
}

/** Address of a column of a field or, of a record type: valid and invalid fields, entry, identity. */
export function columnAt(field: Field, number: u32): usize {
  return readU32(changetype<usize>(field) + offsetof<Field>('column') + ((<usize>number) << 2));
}

export function hasInvalid(type: RecordType): bool {
  return type.hasInvalid;
}

/** Address of the counts of dropped elements by reason. */
export function droppedOf(type: RecordType): usize {
  return type.dropped;
}

export function firstEntryOf(type: RecordType): u32 {
  return type.firstEntry;
}

/** Whether the body may have one more row. */
export function canAddRow(): bool {
  return allRows < maxRows;
}

export function clearColumns(): void {
  for (let type = lastType; !isNone(type); type = type.previous) {
    fillBytes(type.dropped, 0, DROP_REASONS * 4);
    for (let index: u32 = 0; index < type.fieldCount; index += 1) fieldAt(type, index).addedLabels = 0;
  }
  allRows = 0;
  clearRows();
}

/** Drops all rows: the host has taken them. */
export function clearRows(): void {
  for (let type = lastType; !isNone(type); type = type.previous) {
    type.rows = 0;
    type.hasInvalid = false;
  }
}

/** Starts a row, which `addRow` ends; returns its number. */
export function beginRow(type: RecordType): u32 {
  if (type.rows == type.capacity) grow(type);
  return type.rows;
}

export function addRow(type: RecordType): void {
  type.rows += 1;
  allRows += 1;
}

/** Drops the rows from `rows` on, and those of their lists. */
export function truncateRows(type: RecordType, rows: u32): void {
  allRows -= type.rows - rows;
  type.rows = rows;
  for (let lists = type.lists; lists != 0; lists &= lists - 1) {
    const field = fieldAt(type, ctz(lists));
    truncateRows(field.child, firstRowOf(field, rows));
  }
}

/** The first row of a list of a parent. */
export function firstRowOf(field: Field, parent: u32): u32 {
  return parent == 0 ? 0 : readWord(field.column, parent - 1);
}

function readWord(column: usize, row: u32): u32 {
  return readU32(column + ((<usize>row) << 2));
}

export function writeWord(field: Field, row: u32, value: u32): void {
  checkRow(field, row);
  writeU32(field.column + ((<usize>row) << 2), value);
}

export function writeDouble(field: Field, row: u32, value: f64): void {
  checkRow(field, row);
  writeF64(field.column + ((<usize>row) << 3), value);
}

/** Completes a row: `valid` and `invalid` are bit sets of its fields. */
export function endRow(type: RecordType, row: u32, valid: u32, invalid: u32): void {
  writeU32(type.column + ((<usize>row) << 2), valid);
  writeU32(type.secondColumn + ((<usize>row) << 2), invalid);
  if (invalid != 0) type.hasInvalid = true;
  for (let missing = type.written & ~valid; missing != 0; missing &= missing - 1) {
    writeMissing(fieldAt(type, ctz(missing)), row);
  }
}

/** Bit sets of the valid and of the invalid fields of the row that is not added yet. */
export function lastValidOf(type: RecordType): u32 {
  return readWord(type.column, type.rows);
}

export function lastInvalidOf(type: RecordType): u32 {
  return readWord(type.secondColumn, type.rows);
}

function writeMissing(field: Field, row: u32): void {
  const kind = field.kind;
  if ((kind & Kind.IDENTITY) != 0) setText(field, 0, 0);
  if ((kind & Kind.WRITTEN) == 0) return;
  if ((kind & Kind.VALUE) != 0) {
    writeDouble(field, row, (kind & Kind.NOT_NEGATIVE) == Kind.NOT_NEGATIVE ? -1 : NaN);
  } else if ((kind & Kind.LIST) != 0) {
    const start = firstRowOf(field, row);
    truncateRows(field.child, start);
    writeList(field, row, start, 0, 0);
  } else {
    writeWord(field, row, 0);
    if ((kind & Kind.RANGE) != 0) writeRange(field, row, 0, 0);
  }
}

/** Keeps the text of a field for the identity of its record. */
export function setText(field: Field, text: usize, flagged: u32): void {
  field.text = text;
  field.textLength = flagged;
}

/** Writes the end of a list, and how many of its elements were beyond the limit, and rejected. */
export function writeList(field: Field, row: u32, end: u32, surplus: u32, rejected: u32): void {
  writeWord(field, row, end);
  writeU32(field.secondColumn + ((<usize>row) << 2), surplus);
  writeU32(field.thirdColumn + ((<usize>row) << 2), rejected);
}

/** Writes a text of the window and its length with flags. */
export function writeRange(field: Field, row: u32, text: usize, flagged: u32): void {
  writeWord(field, row, <u32>text);
  writeU32(field.secondColumn + ((<usize>row) << 2), flagged);
}

export function writeEntry(type: RecordType, row: u32, entry: u32): void {
  writeU32(type.thirdColumn + ((<usize>row) << 2), entry);
}

export function writeIdentity(type: RecordType, row: u32, identity: f64): void {
  writeF64(type.fourthColumn + ((<usize>row) << 3), identity);
}

function grow(type: RecordType): void {
  type.capacity = max<u32>(FIRST_CAPACITY, type.rows * 2);
  growColumns(type, 3, 4);
  if (!isNone(type.firstOfIdentity)) type.fourthColumn = enlargeColumn(type, type.fourthColumn, 8);
  for (let index: u32 = 0; index < type.fieldCount; index += 1) {
    const field = fieldAt(type, index);
    const kind = field.kind;
    if ((kind & Kind.VALUE) != 0) growColumns(field, 1, 8);
    else if ((kind & Kind.LIST) != 0) growColumns(field, 3, 4);
    else if ((kind & Kind.RANGE) != 0) growColumns(field, 2, 4);
    else if ((kind & Kind.WRITTEN) != 0) growColumns(field, 1, 4);
  }
  layout += 1;
}

function growColumns(field: Field, count: u32, bytes: usize): void {
  field.column = enlargeColumn(field.type, field.column, bytes);
  if (count > 1) field.secondColumn = enlargeColumn(field.type, field.secondColumn, bytes);
  if (count > 2) field.thirdColumn = enlargeColumn(field.type, field.thirdColumn, bytes);
}

/** Columns whose rows are at the same offset of a page would evict each other from the cache. */
const STAGGER: usize = 208;

function enlargeColumn(type: RecordType, from: usize, bytes: usize): usize {
  return enlarge(from, <usize>type.rows * bytes, <usize>type.capacity * bytes + STAGGER);
}

/** Debug build: a value belongs to the row that is being read, or to one that its list began before. */
function checkRow(field: Field, row: u32): void {
  const type = field.type;
  assert(type.rows >= row && type.capacity > row);
}

/** Debug build: whether the rows of each list of a batch belong to its parents, in order and completely. */
export function areColumnsConsistent(): bool {
  for (let type = lastType; !isNone(type); type = type.previous) {
    if (type.rows > type.capacity) return false;
    for (let lists = type.lists; lists != 0; lists &= lists - 1) {
      if (type != root && !areEndsConsistent(fieldAt(type, ctz(lists)), type.rows)) return false;
    }
  }
  return true;
}

function areEndsConsistent(field: Field, parents: u32): bool {
  let end: u32 = 0;
  for (let parent: u32 = 1; parent <= parents; parent += 1) {
    const next = firstRowOf(field, parent);
    if (next < end) return false;
    end = next;
  }
  return end == field.child.rows;
}
