import { OTHER, UNKNOWN } from './labels';
import { maxRows } from './limits';
import { addF64, allocate, enlarge, fillBytes, readU32, readU64, writeU32, writeU64 } from './memory';
import { countSurplus, Surplus } from './surplus';

/*
 * Sums by label set. A row has a key (family and up to three label ids) and four numbers. Rows are numbered from 0 on, in
 * the order of their first addition. A hash table finds the number for a key.
 *
 * The labels of a key are in the order in which folding gives them up, the least bounded first. Beyond the limit of its
 * family, a new label set is added to that with `__other__` instead of its first label, then of its second one, so sums
 * stay exact. Up to the limit, nothing folds.
 */

/** The host has the families in the same order. */
export const enum Family {
  /** client_version, device_type: users. */
  USERS = 0,
  /** vs_id: users, tasks, tasks with progress, merging tasks. */
  SERVERS = 1,
  /** vs_id, protocol: inputs. */
  INPUTS = 2,
  /** client_version, device_type: inputs. */
  INPUT_CLIENTS = 3,
  /** vs_id, format: outputs, connections, outputs without connections. */
  OUTPUTS = 4,
  /** resolution, video codec, audio codec: outputs, connections. */
  RENDITIONS = 5,
  /** tag: outputs. */
  TAGS = 6,
  /** vs_id, codec_type, mode: streams. */
  STREAMS = 7,
  /** codec_id, codec_type: streams. */
  CODECS = 8,
  /** codec_type, mode: bit rates. */
  BIT_RATES = 9,
}

const FAMILIES: usize = 10;

export const ROW_BYTES: usize = 40;
/** Offset of a row's first number. */
const NUMBERS: usize = 8;
const FIRST_CAPACITY: u32 = 1024;

/** Numbers of rows plus 1; 0 for an empty slot. At least twice as many as rows. */
let slots: usize = allocate(<usize>FIRST_CAPACITY * 2 * 4);
let slotCount: u32 = FIRST_CAPACITY * 2;
export let rows: usize = allocate(<usize>FIRST_CAPACITY * ROW_BYTES);
export let rowCount: u32 = 0;
/** Rows by family, each a u32. */
const familySizes = allocate(FAMILIES * 4);

export function clearRows(): void {
  if (rowCount == 0) return;
  fillBytes(slots, 0, <usize>slotCount * 4);
  fillBytes(familySizes, 0, FAMILIES * 4);
  rowCount = 0;
}

/** Returns the number of the row for a label set, folded if need be. */
export function findRow(family: u32, a: u32, b: u32, c: u32): u32 {
  const key = encodeKey(family, a, b, c);
  // Nearly every row is in its first slot. This function is small enough to be inlined into the readers of records.
  const number = numberAt(hashKey(key));
  return number != 0 && keyOf(number - 1) == key ? number - 1 : probeRow(family, a, b, c);
}

function probeRow(family: u32, a: u32, b: u32, c: u32): u32 {
  const key = encodeKey(family, a, b, c);
  let index = hashKey(key);
  for (let number = numberAt(index); number != 0; number = numberAt(index)) {
    if (keyOf(number - 1) == key) return number - 1;
    index += 1;
  }
  return hasCapacity(family, a, b, c) ? addRow(family, key, index) : findFoldedRow(family, a, b, c);
}

/** Address of a slot; its index is taken modulo the number of slots. */
function slotAt(index: u32): usize {
  return slots + ((<usize>(index & (slotCount - 1))) << 2);
}

/** The number of the row in a slot plus 1; 0 for an empty slot. */
function numberAt(index: u32): u32 {
  return readU32(slotAt(index));
}

function keyOf(row: u32): u64 {
  return readU64(rows + <usize>row * ROW_BYTES);
}

/** Address of one of the four numbers of a row. */
export function cell(row: u32, column: u32): usize {
  return rows + <usize>row * ROW_BYTES + NUMBERS + ((<usize>column) << 3);
}

/** Adds to the first number of the row for a label set. */
export function addToRow(family: u32, a: u32, b: u32, c: u32, amount: f64): void {
  addF64(cell(findRow(family, a, b, c), 0), amount);
}

function encodeKey(family: u32, a: u32, b: u32, c: u32): u64 {
  return ((<u64>family) << 60) | ((<u64>a) << 40) | ((<u64>b) << 20) | (<u64>c);
}

function hashKey(key: u64): u32 {
  return <u32>((key * 0x9e3779b97f4a7c15) >>> 40);
}

/**
 * Whether a new value of the label that folding gives up as number `level` can have a row. Without one, the value need not
 * be in the label table, so a family with invented values leaves it to the others.
 */
export function canAddLabel(family: u32, level: u32): bool {
  return readU32(familySizes + <usize>family * 4) < maxRows + level * (maxRows >>> 3);
}

/** Each level of folding may use an eighth of the limit in addition; the last one has a single label set. */
function hasCapacity(family: u32, a: u32, b: u32, c: u32): bool {
  const level = countFolded(a, b, c);
  if (isFolded(family, a, b, c)) return true;
  return canAddLabel(family, level);
}

function countFolded(a: u32, b: u32, c: u32): u32 {
  if (a != OTHER) return 0;
  if (b != OTHER) return 1;
  return c == OTHER ? 3 : 2;
}

/** Whether no label of the family is left to fold. */
function isFolded(family: u32, a: u32, b: u32, c: u32): bool {
  const labels = countLabels(family);
  return a == OTHER && (labels < 2 || b == OTHER) && (labels < 3 || c == OTHER);
}

function countLabels(family: u32): u32 {
  if (family == Family.SERVERS || family == Family.TAGS) return 1;
  return family == Family.RENDITIONS || family == Family.STREAMS ? 3 : 2;
}

function findFoldedRow(family: u32, a: u32, b: u32, c: u32): u32 {
  if (a != OTHER) {
    countSurplus(Surplus.LABEL_SET);
    return findRow(family, OTHER, b, c);
  }
  return b != OTHER ? findRow(family, a, OTHER, c) : findRow(family, a, b, OTHER);
}

function addRow(family: u32, key: u64, index: u32): u32 {
  const number = rowCount;
  rowCount += 1;
  writeU32(slotAt(index), rowCount);
  const size = familySizes + <usize>family * 4;
  writeU32(size, readU32(size) + 1);
  const row = rows + <usize>number * ROW_BYTES;
  writeU64(row, key);
  fillBytes(row + NUMBERS, 0, ROW_BYTES - NUMBERS);
  if (rowCount * 2 == slotCount) grow();
  return number;
}

function grow(): void {
  rows = enlarge(rows, <usize>rowCount * ROW_BYTES, <usize>rowCount * 2 * ROW_BYTES);
  slotCount *= 2;
  slots = allocate(<usize>slotCount * 4);
  for (let row: u32 = 0; row < rowCount; row += 1) {
    let index = hashKey(keyOf(row));
    while (numberAt(index) != 0) index += 1;
    writeU32(slotAt(index), row + 1);
  }
}

/** Debug build: whether each row is found by its key. */
export function areRowsConsistent(): bool {
  let sum: u32 = 0;
  for (let family: usize = 0; family < FAMILIES; family += 1) sum += readU32(familySizes + family * 4);
  return sum == rowCount && rowCount * 2 <= slotCount && UNKNOWN == 0;
}
