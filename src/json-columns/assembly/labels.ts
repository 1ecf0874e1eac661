import { areEqual, hashText, mixBlock, readMasked } from './hashing';
import { maxFieldLabels, maxLabels, nameLabel, nameScheme } from './host';
import { BACKSLASH, COLON, LETTER_U, LOWER_CASE } from './json-bytes';
import { allocate, copyBytes, fillBytes, readByte, writeByte, writeF64 } from './memory';
import { ESCAPED, LENGTH_BITS, NUMERIC } from './texts';
import { Field } from './types';

/*
 * The label table: a hash table from the bytes of a label value, as in the body, to its id. The host assigns
 * the ids, so that two spellings of one value share an id. The table outlives a body. A key that is no text
 * begins with a byte that no text has: 0 before a number, 1 before the scheme of a URL.
 */

/** Id of the value that stands for those beyond a limit. Id 0 is that of a missing value. */
const OTHER: u32 = 1;

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

@unmanaged
class Slot {
  /** The key, or of a key longer than 16 bytes a 128-bit hash. */
  key: v128;
  id: u32;
  /** Length of the key; 0 for an empty slot. */
  length: u32;
  hash: u32;
}

const SLOT_BYTES: usize = 32;
const FIRST_SLOTS: u32 = 1024;
/** Keys that are kept for the next body; with more of them, the next body starts with none. */
const MAX_KEPT: u32 = 4096;
/** More probes than random keys need in a half-full table; what needs more is beyond the limit. */
const MAX_PROBES: u32 = 128;
/** A label value depends on at most 512 UTF-16 units, each of up to six bytes. */
const MAX_KEY_BYTES: u32 = 3072;

let slotCount: u32 = FIRST_SLOTS;
let slots: usize = allocate(<usize>FIRST_SLOTS * SLOT_BYTES);
let labelCount: u32 = 0;

/** Forgets all keys if there are too many to keep; returns whether ids start from the first again. */
export function trimLabels(): bool {
  if (labelCount <= MAX_KEPT) return false;
  fillBytes(slots, 0, <usize>slotCount * SLOT_BYTES);
  labelCount = 0;
  return true;
}

/**
 * The id of a text of the window; `flagged` is its length with flags, `number` the value of a numeric one. A
 * new text is added, or is `OTHER` if it is beyond a limit of the body or of the field.
 */
export function findLabel(text: usize, flagged: u32, number: f64, field: Field): u32 {
  if ((flagged & NUMERIC) == 0) {
    const length = flagged & LENGTH_BITS;
    return findKey(text, length <= MAX_KEY_BYTES ? length : cutText(text), field);
  }
  writeByte(numberKey, 0);
  writeF64(numberKey + 1, number);
  return findKey(numberKey, 9, field);
}

const numberKey = allocate(32);

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

/** Longer schemes are all named alike. */
const MAX_SCHEME: u32 = 6;

const schemeKey = allocate(32);
writeByte(schemeKey, 1);

/** The id of the scheme of a URL: its letters, none for the empty text, a colon without a scheme. */
export function findSchemeLabel(url: usize, flagged: u32, field: Field): u32 {
  const length = flagged & LENGTH_BITS;
  if (length == 0) return findKey(schemeKey, 1, field);
  for (let index: u32 = 0; index <= MAX_SCHEME && index < length; index += 1) {
    const byte = readByte(url + index);
    if (byte == COLON) return index == 0 ? findNoScheme(field) : findKey(schemeKey, index + 1, field);
    if (byte == BACKSLASH) break;
    const letter = byte | LOWER_CASE;
    if (letter - 0x61 > 25) return findNoScheme(field);
    writeByte(schemeKey + 1 + index, letter);
  }
  return (flagged & ESCAPED) != 0 ? nameScheme(url, length) : findNoScheme(field);
}

function findNoScheme(field: Field): u32 {
  writeByte(schemeKey + 1, COLON);
  return findKey(schemeKey, 2, field);
}

export const NO_LABEL: u32 = 0xffffffff;

/** The id for a key of up to 16 bytes if it is in its first slot, as nearly all are. Small, to be inlined. */
export function findKnownKey(key: usize, length: u32): u32 {
  const block = readMasked(key, length);
  const slot = slotAt(<u32>mixBlock(length, block));
  return isKeyOf(slot, length, block) ? slot.id : NO_LABEL;
}

/** Returns the id for a key; reads up to one block beyond it. */
function findKey(key: usize, length: u32, field: Field): u32 {
  if (length > 16) return probeKey(hashToBlock(key, length), key, length, field);
  return probeKey(readMasked(key, length), key, length, field);
}

function probeKey(block: v128, key: usize, length: u32, field: Field): u32 {
  const hash = <u32>mixBlock(length, block);
  let index = hash;
  while (index - hash < MAX_PROBES && slotAt(index).length != 0) {
    const slot = slotAt(index);
    if (isKeyOf(slot, length, block)) return slot.id;
    index += 1;
  }
  const hasSlot = index - hash < MAX_PROBES;
  if (!hasSlot || labelCount >= maxLabels || field.addedLabels >= maxFieldLabels) {
    pendingSurplus += 1;
    return OTHER;
  }
  field.addedLabels += 1;
  return addKey(slotAt(index), block, key, length, hash);
}

function addKey(slot: Slot, block: v128, key: usize, length: u32, hash: u32): u32 {
  const id = nameLabel(key, length);
  slot.key = block;
  slot.id = id;
  slot.length = length;
  slot.hash = hash;
  labelCount += 1;
  if (labelCount * 2 > slotCount) growSlots();
  return id;
}

function slotAt(index: u32): Slot {
  return changetype<Slot>(slots + <usize>(index & (slotCount - 1)) * SLOT_BYTES);
}

function isKeyOf(slot: Slot, length: u32, block: v128): bool {
  return slot.length == length && areEqual(slot.key, block);
}

/** With a random key of the hash, two texts share a block with a probability of at most 2⁻⁶⁴. */
function hashToBlock(key: usize, length: u32): v128 {
  return i64x2.replace_lane(i64x2.splat(hashText(0, key, length)), 1, hashText(~(<u64>0), key, length));
}

function growSlots(): void {
  const oldSlots = slots;
  const oldEnd = slots + <usize>slotCount * SLOT_BYTES;
  slotCount *= 2;
  slots = allocate(<usize>slotCount * SLOT_BYTES);
  for (let at = oldSlots; at < oldEnd; at += SLOT_BYTES) {
    const old = changetype<Slot>(at);
    if (old.length == 0) continue;
    let index = old.hash;
    while (slotAt(index).length != 0) index += 1;
    copyBytes(changetype<usize>(slotAt(index)), at, SLOT_BYTES);
  }
}

/** Debug build: whether the table has as many keys as it counts. */
export function areLabelsConsistent(): bool {
  let used: u32 = 0;
  for (let index: u32 = 0; index < slotCount; index += 1) if (slotAt(index).length != 0) used += 1;
  return used == labelCount && used * 2 <= slotCount;
}
