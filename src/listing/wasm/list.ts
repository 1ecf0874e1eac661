import { allocate, enlarge, readU32, writeU32 } from './memory';

/* Lists of entries of one size. A list is an address in memory with these offsets. */

const START: usize = 0;
const COUNT: usize = 4;
const CAPACITY: usize = 8;
const ENTRY_BYTES: usize = 12;
const FIRST_CAPACITY: u32 = 16;

export function createList(entryBytes: u32): usize {
  const list = allocate(16);
  writeU32(list + START, <u32>allocate(<usize>FIRST_CAPACITY * entryBytes));
  writeU32(list + CAPACITY, FIRST_CAPACITY);
  writeU32(list + ENTRY_BYTES, entryBytes);
  return list;
}

export function countEntries(list: usize): u32 {
  return readU32(list + COUNT);
}

/** Address of an entry, until the next one is added. */
export function entryAt(list: usize, index: u32): usize {
  return <usize>readU32(list + START) + <usize>index * readU32(list + ENTRY_BYTES);
}

/** Drops all entries from `count` on. */
export function truncateList(list: usize, count: u32): void {
  writeU32(list + COUNT, count);
}

/** Adds an entry with arbitrary content and returns its address. */
export function addEntry(list: usize): usize {
  const count = readU32(list + COUNT);
  if (count == readU32(list + CAPACITY)) grow(list, count);
  writeU32(list + COUNT, count + 1);
  return entryAt(list, count);
}

function grow(list: usize, count: u32): void {
  const entryBytes = <usize>readU32(list + ENTRY_BYTES);
  const start = enlarge(readU32(list + START), <usize>count * entryBytes, <usize>count * 2 * entryBytes);
  writeU32(list + START, <u32>start);
  writeU32(list + CAPACITY, count * 2);
}
