import { allocate, fillBytes, readBlock } from './memory';

/*
 * Hashes texts, 16 bytes at a time, with a random key of the host. Both halves of a block, each combined with
 * half of the key, are multiplied to 128 bits, whose halves are combined. So every bit of input and key
 * changes every bit of the hash, and without the key no two colliding texts can be computed.
 */

let firstKey: u64 = 0;
let secondKey: u64 = 0;

export function setKey(first: u64, second: u64): void {
  firstKey = first;
  secondKey = second;
}

/** 16 bytes of ones, then 16 of zeros: a block from them keeps the first `length` bytes of another one. */
const masks = allocate(32);
fillBytes(masks, 0xff, 16);

/** Reads the first `length` bytes of a text, at most 16, followed by zeros. */
export function readMasked(text: usize, length: u32): v128 {
  return v128.and(readBlock(text), readBlock(masks + 16 - length));
}

/** Adds a block to a 64-bit hash. */
export function mixBlock(hash: u64, block: v128): u64 {
  return multiplyAndFold(
    hash ^ firstKey ^ i64x2.extract_lane(block, 0),
    secondKey ^ i64x2.extract_lane(block, 1),
  );
}

/** The two halves of a product of 128 bits, combined by exclusive or. */
function multiplyAndFold(a: u64, b: u64): u64 {
  const lowA = a & 0xffffffff;
  const lowB = b & 0xffffffff;
  const highA = a >>> 32;
  const highB = b >>> 32;
  const crossed = highA * lowB;
  const middle = lowA * highB + (crossed & 0xffffffff) + ((lowA * lowB) >>> 32);
  return (a * b) ^ (highA * highB + (crossed >>> 32) + (middle >>> 32));
}

/** Hashes a text of any length, beginning with `hash`. */
export function hashText(hash: u64, text: usize, length: u32): u64 {
  let result = hash;
  const lastBlock = text + (length & ~15);
  for (let at = text; at < lastBlock; at += 16) result = mixBlock(result, readBlock(at));
  return mixBlock(result + length, readMasked(lastBlock, length & 15));
}

export function areEqual(a: v128, b: v128): bool {
  return !v128.any_true(v128.xor(a, b));
}

/** Whether two texts of one length are equal. */
export function areTextsEqual(a: usize, b: usize, length: u32): bool {
  let at: u32 = 0;
  for (; at + 16 <= length; at += 16) if (!areEqual(readBlock(a + at), readBlock(b + at))) return false;
  return areEqual(readMasked(a + at, length - at), readMasked(b + at, length - at));
}
