/* All loads, stores and allocations; the debug build checks addresses and guard blocks behind them. */

/** Bytes that may be read beyond the end of a text: one block. */
export const BLOCK: usize = 16;

const GUARD_BYTES: usize = ASC_NO_ASSERT ? 0 : 16;
const GUARD_WORD: u32 = 0xa5c3e178;
let heapEnd: usize = (__heap_base + 15) & ~15;
let lastGuard: usize = 0;

/** Returns `bytes` zeroed bytes at a multiple of 16. They are freed with the instance only. */
export function allocate(bytes: usize): usize {
  const at = heapEnd;
  heapEnd += ((bytes + 15) & ~15) + GUARD_BYTES;
  const missingPages = <i32>((heapEnd + 0xffff) >>> 16) - memory.size();
  // The limits of a body keep it below the maximum, so only the operating system can refuse.
  if (missingPages > 0 && memory.grow(missingPages) < 0) unreachable();
  if (GUARD_BYTES > 0) writeGuard(heapEnd - GUARD_BYTES);
  return at;
}

/** Returns a larger allocation that begins with the first `used` bytes of `from`. */
export function enlarge(from: usize, used: usize, bytes: usize): usize {
  const to = allocate(bytes);
  if (used > 0) copyBytes(to, from, used);
  return to;
}

/** Bytes allocated so far. */
export function allocatedBytes(): usize {
  return heapEnd;
}

function writeGuard(at: usize): void {
  store<u32>(at, <u32>lastGuard);
  store<u32>(at + 4, GUARD_WORD);
  store<u64>(at + 8, <u64>GUARD_WORD);
  lastGuard = at;
}

/** Debug build: whether nothing wrote beyond the end of an allocation. */
export function areGuardsIntact(): bool {
  let at = lastGuard;
  while (at != 0) {
    if (load<u32>(at + 4) != GUARD_WORD || load<u64>(at + 8) != <u64>GUARD_WORD) return false;
    at = load<u32>(at);
  }
  return true;
}

function check(at: usize, bytes: usize): void {
  assert(at >= __heap_base && at + bytes <= heapEnd);
}

export function readByte(at: usize): u32 {
  check(at, 1);
  return load<u8>(at);
}

export function readU16(at: usize): u32 {
  check(at, 2);
  return load<u16>(at);
}

export function readU32(at: usize): u32 {
  check(at, 4);
  return load<u32>(at);
}

export function readU64(at: usize): u64 {
  check(at, 8);
  return load<u64>(at);
}

export function readBlock(at: usize): v128 {
  check(at, 16);
  return v128.load(at);
}

export function writeByte(at: usize, value: u32): void {
  check(at, 1);
  store<u8>(at, value);
}

export function writeU16(at: usize, value: u32): void {
  check(at, 2);
  store<u16>(at, value);
}

export function writeU32(at: usize, value: u32): void {
  check(at, 4);
  store<u32>(at, value);
}

export function writeF64(at: usize, value: f64): void {
  check(at, 8);
  store<f64>(at, value);
}

export function addU32(at: usize, amount: u32): void {
  writeU32(at, readU32(at) + amount);
}

/** Copies bytes; the two ranges may overlap. */
export function copyBytes(to: usize, from: usize, bytes: usize): void {
  check(to, bytes);
  check(from, bytes);
  memory.copy(to, from, bytes);
}

export function fillBytes(at: usize, byte: u8, bytes: usize): void {
  check(at, bytes);
  memory.fill(at, byte, bytes);
}
