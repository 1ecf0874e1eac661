/**
 * Which of so many shards a service code belongs to: to the one that has the highest weight for it (rendezvous
 * hashing). A shard that comes takes codes from all others and none moves between these; what one had that goes is
 * spread over all that stay.
 *
 * Replicas agree without a word because each computes the same: what stands here never changes, or a new version beside
 * an old one would poll codes twice, and others not at all. Integers of 32 bits alone, so that every platform agrees.
 */
export function shardOf(serviceCode: string, count: number): number {
  const hash = hashOf(serviceCode);
  let owner = 0;
  let highest = -1;
  for (let index = 0; index < count; index += 1) {
    const weight = weightOf(hash, index);
    // Of equal ones the first, so that one more shard takes only what it alone weighs most for.
    if (weight <= highest) continue;
    highest = weight;
    owner = index;
  }
  return owner;
}

/** Over the UTF-16 code units as they are: half a surrogate pair is a unit like any other. */
function hashOf(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at += 1)
    hash = scramble((Math.imul(hash, 31) + text.charCodeAt(at)) | 0);
  return hash;
}

/** The constant is odd, which makes another number of each index. */
function weightOf(hash: number, index: number): number {
  return scramble(hash ^ Math.imul(index + 1, 0x9e3779b1));
}

/** Scrambles a 32-bit integer (the finalizer of MurmurHash3): no two become the same. */
function scramble(value: number): number {
  const first = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
