/**
 * The finalizer of MurmurHash3: maps 32-bit integers one to one onto unsigned 32-bit integers.
 *
 * Its results must never change: they decide which shard polls a service code, and what the simulator generates from a
 * seed.
 */
export function fmix32(value: number): number {
  const first = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
