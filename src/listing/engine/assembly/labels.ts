import { areEqual, hashText, mixBlock, readMasked } from './hashing';
import { maxLabels, nameLabel, nameScheme } from './host';
import { BACKSLASH, COLON, LETTER_U, LOWER_CASE } from './json-bytes';
import {
  allocate,
  copyBytes,
  fillBytes,
  readBlock,
  readByte,
  readU32,
  writeBlock,
  writeByte,
  writeF64,
  writeU32,
} from './memory';
import { ESCAPED, LENGTH_BITS, NUMERIC } from './texts';

/*
 * The label table: a hash table from the bytes of a label value, as they stand in the body, to the id of the value. The
 * host assigns the ids, so that two spellings of one value share an id. The table outlives a body.
 *
 * A key that is no text begins with a byte that no text has: 0 before a number, 1 before the scheme of a URL.
 */

/** Id of a missing value. */
export const UNKNOWN: u32 = 0;
/** Id of the value that stands for those beyond a limit. */
export const OTHER: u32 = 1;

/** Labels of the body beyond a limit, and of the element being read: one that a chunk cuts is read again. */
export let surplusLabels: u32 = 0;
let pendingSurplus: u32 = 0;

export function clearSurplus(): void {
  surplusLabels = 0;
}

export function beginSurplus(): void {
  pendingSurplus = 0;
}

export function commitSurplus(): void {
  surplusLabels += pendingSurplus;
}

/** A slot: the key, or of a key longer than 16 bytes a 128-bit hash; then these. An empty slot has length 0. */
const SLOT: usize = 32;
const SLOT_ID: usize = 16;
const SLOT_LENGTH: usize = 20;
const SLOT_HASH: usize = 24;

const FIRST_SLOTS: u32 = 1024;
/** Keys that are kept for the next body; with more of them, the next body starts with none. */
const MAX_KEPT: u32 = 4096;
/** More probes than random keys need in a table that is half full; a key that needs more is beyond the limit. */
const MAX_PROBES: u32 = 128;
/** A label value depends on at most 512 UTF-16 units, each of up to six bytes. */
const MAX_KEY_BYTES: u32 = 3072;

let slotCount: u32 = FIRST_SLOTS;
let slots: usize = allocate(<usize>FIRST_SLOTS * SLOT);
export let labelCount: u32 = 0;

/** Forgets all keys if there are too many to keep; returns whether it did, so that ids start from the first again. */
export function trimLabels(): bool {
  if (labelCount <= MAX_KEPT) return false;
  fillBytes(slots, 0, <usize>slotCount * SLOT);
  labelCount = 0;
  return true;
}

/**
 * Returns the id of a text of the window; `flagged` is its length with flags, `number` the value of a numeric one. A text
 * that is not in the table is added only if `canAdd`, and is `OTHER` otherwise.
 */
export function findLabel(text: usize, flagged: u32, number: f64, canAdd: bool): u32 {
  if ((flagged & NUMERIC) != 0) return findNumberLabel(number, canAdd);
  const length = flagged & LENGTH_BITS;
  return findKey(text, length <= MAX_KEY_BYTES ? length : cutText(text), canAdd);
}

/** Returns a length from `MAX_KEY_BYTES` on at which neither an escape nor a letter is cut. */
function cutText(text: usize): u32 {
  let at = text;
  while (at < text + MAX_KEY_BYTES) {
    if (readByte(at) != BACKSLASH) at += 1;
    else at += readByte(at + 1) == LETTER_U ? 6 : 2;
  }
  while ((readByte(at) & 0xc0) == 0x80) at += 1;
  return <u32>(at - text);
}

const numberKey = allocate(32);

/** Returns the id of a number. */
export function findNumberLabel(value: f64, canAdd: bool): u32 {
  writeByte(numberKey, 0);
  writeF64(numberKey + 1, value);
  return findKey(numberKey, 9, canAdd);
}

/** Longer schemes are all named alike. */
const MAX_SCHEME: u32 = 6;

const schemeKey = allocate(32);
writeByte(schemeKey, 1);

/** Returns the label id of the scheme of a URL: of its letters, of none for the empty text, of a colon without a scheme. */
export function findSchemeLabel(url: usize, flagged: u32): u32 {
  const length = flagged & LENGTH_BITS;
  if (length == 0) return findKey(schemeKey, 1, true);
  for (let index: u32 = 0; index <= MAX_SCHEME && index < length; index += 1) {
    const byte = readByte(url + index);
    if (byte == COLON) return index == 0 ? findNoScheme() : findKey(schemeKey, index + 1, true);
    if (byte == BACKSLASH) break;
    const letter = byte | LOWER_CASE;
    if (letter - 0x61 > 25) return findNoScheme();
    writeByte(schemeKey + 1 + index, letter);
  }
  return (flagged & ESCAPED) != 0 ? nameScheme(url, length) : findNoScheme();
}

function findNoScheme(): u32 {
  writeByte(schemeKey + 1, COLON);
  return findKey(schemeKey, 2, true);
}

/** No id. */
export const NO_LABEL: u32 = 0xffffffff;

/** Returns the id for a key of up to 16 bytes if it is in its first slot, as nearly all are. Small enough to be inlined. */
export function findKnownKey(key: usize, length: u32): u32 {
  const block = readMasked(key, length);
  const slot = slotAt(<u32>mixBlock(length, block));
  return isKeyOf(slot, length, block) ? readU32(slot + SLOT_ID) : NO_LABEL;
}

/** Returns the id for a key; reads up to one block beyond it. */
export function findKey(key: usize, length: u32, canAdd: bool): u32 {
  if (length > 16) return probeKey(hashToBlock(key, length), key, length, canAdd);
  return probeKey(readMasked(key, length), key, length, canAdd);
}

function probeKey(block: v128, key: usize, length: u32, canAdd: bool): u32 {
  const hash = <u32>mixBlock(length, block);
  let index = hash;
  while (index - hash < MAX_PROBES && readU32(slotAt(index) + SLOT_LENGTH) != 0) {
    const slot = slotAt(index);
    if (isKeyOf(slot, length, block)) return readU32(slot + SLOT_ID);
    index += 1;
  }
  const hasSlot = index - hash < MAX_PROBES;
  if (canAdd && hasSlot && labelCount < maxLabels) return addKey(slotAt(index), block, key, length, hash);
  pendingSurplus += 1;
  return OTHER;
}

/** Address of a slot; its index is taken modulo the number of slots. */
function slotAt(index: u32): usize {
  return slots + <usize>(index & (slotCount - 1)) * SLOT;
}

function isKeyOf(slot: usize, length: u32, block: v128): bool {
  return readU32(slot + SLOT_LENGTH) == length && areEqual(readBlock(slot), block);
}

/** With a random key of the hash, two texts share a block with a probability of at most 2⁻⁶⁴. */
function hashToBlock(key: usize, length: u32): v128 {
  return i64x2.replace_lane(i64x2.splat(hashText(0, key, length)), 1, hashText(~(<u64>0), key, length));
}

function addKey(slot: usize, block: v128, key: usize, length: u32, hash: u32): u32 {
  const id = nameLabel(key, length);
  writeBlock(slot, block);
  writeU32(slot + SLOT_ID, id);
  writeU32(slot + SLOT_LENGTH, length);
  writeU32(slot + SLOT_HASH, hash);
  labelCount += 1;
  if (labelCount * 2 > slotCount) growSlots();
  return id;
}

function growSlots(): void {
  const oldSlots = slots;
  const oldEnd = slots + <usize>slotCount * SLOT;
  slotCount *= 2;
  slots = allocate(<usize>slotCount * SLOT);
  for (let old = oldSlots; old < oldEnd; old += SLOT) {
    if (readU32(old + SLOT_LENGTH) == 0) continue;
    let index = readU32(old + SLOT_HASH);
    while (readU32(slotAt(index) + SLOT_LENGTH) != 0) index += 1;
    copyBytes(slotAt(index), old, SLOT);
  }
}

/** Debug build: whether the table has as many keys as it counts. */
export function areLabelsConsistent(): bool {
  let used: u32 = 0;
  for (let index: u32 = 0; index < slotCount; index += 1) {
    if (readU32(slots + <usize>index * SLOT + SLOT_LENGTH) != 0) used += 1;
  }
  return used == labelCount && used * 2 <= slotCount;
}
