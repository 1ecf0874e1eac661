import { decodeString } from './decoding';
import { hashText } from './hashing';
import { maxTasks } from './limits';
import { allocate, fillBytes, readByte, readU16, readU64, writeByte, writeU64 } from './memory';
import { reserveScratch } from './scratch';
import { isAscii } from './strings';
import { ESCAPED, LENGTH_BITS } from './texts';

/*
 * The tasks of a listing, each by a 128-bit hash of its id and the label id of its server. With a random seed, two tasks
 * share a hash with a probability of 2⁻⁶⁴ at most.
 */

const SLOT: usize = 16;
const FIRST_SLOTS: u32 = 2048;

let slotCount: u32 = FIRST_SLOTS;
let slots: usize = allocate(<usize>FIRST_SLOTS * SLOT);
export let taskCount: u32 = 0;

export const enum Added {
  NEW = 0,
  DUPLICATE = 1,
  /** There are as many tasks as the limit allows. */
  SURPLUS = 2,
}

export function clearTaskIds(): void {
  if (taskCount == 0) return;
  fillBytes(slots, 0, <usize>slotCount * SLOT);
  taskCount = 0;
}

/** Adds a task by its id, a text of the window, and its server. */
export function addTaskId(text: usize, flagged: u32, server: u32): u32 {
  const length = flagged & LENGTH_BITS;
  if ((flagged & ESCAPED) == 0 && isAscii(text, length)) return addBytes(text, length, server);
  const units = reserveScratch(length);
  const count = decodeString(text, length, units);
  // An id that is ASCII once decoded equals one without escapes.
  if (narrow(units, count)) return addBytes(units, count, server);
  return addBytes(units, count * 2, server | UTF_16);
}

/** Distinguishes UTF-16 from ASCII with the same bytes. */
const UTF_16: u64 = 1 << 32;

/** Turns UTF-16 into ASCII in place if all units are ASCII; returns whether they are. */
function narrow(units: usize, count: u32): bool {
  for (let index: usize = 0; index < count; index += 1) {
    if (readU16(units + 2 * index) > 0x7f) return false;
  }
  for (let index: usize = 0; index < count; index += 1) writeByte(units + index, readByte(units + 2 * index));
  return true;
}

function addBytes(text: usize, length: u32, salt: u64): u32 {
  const first = hashText(salt, text, length) | 1;
  const second = hashText(~salt, text, length);
  const mask = slotCount - 1;
  let index = (<u32>(first >>> 1)) & mask;
  while (true) {
    const slot = slots + <usize>index * SLOT;
    const found = readU64(slot);
    if (found == 0) break;
    if (found == first && readU64(slot + 8) == second) return Added.DUPLICATE;
    index = (index + 1) & mask;
  }
  if (taskCount >= maxTasks) return Added.SURPLUS;
  write(index, first, second);
  taskCount += 1;
  if (taskCount * 2 > slotCount) grow();
  return Added.NEW;
}

function write(index: u32, first: u64, second: u64): void {
  const slot = slots + <usize>index * SLOT;
  writeU64(slot, first);
  writeU64(slot + 8, second);
}

function grow(): void {
  const oldSlots = slots;
  const oldEnd = slots + <usize>slotCount * SLOT;
  slotCount *= 2;
  slots = allocate(<usize>slotCount * SLOT);
  const mask = slotCount - 1;
  for (let old = oldSlots; old < oldEnd; old += SLOT) {
    const first = readU64(old);
    if (first == 0) continue;
    let index = (<u32>(first >>> 1)) & mask;
    while (readU64(slots + <usize>index * SLOT) != 0) index = (index + 1) & mask;
    write(index, first, readU64(old + 8));
  }
}
