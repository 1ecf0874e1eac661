/** Pairs of a value and its weight. */
export type WeightedChoices<T> = readonly [readonly [T, number], ...(readonly (readonly [T, number])[])];

/** Scrambles a 32-bit integer (the finalizer of MurmurHash3). A bijection: different inputs never collide. */
export function finalizeHash(value: number): number {
  const first = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}

/** Derives an unsigned 32-bit hash from a hash and an integer. */
export function mixHash(seed: number, value: number): number {
  return finalizeHash((Math.imul(seed, 0x9e3779b1) + value) | 0);
}

/** Derives an unsigned 32-bit hash from a seed and a text. */
export function hashText(seed: number, text: string): number {
  let hash = mixHash(seed, text.length);
  for (let at = 0; at < text.length; at += 1) hash = mixHash(hash, text.charCodeAt(at));
  return hash;
}

/** Maps a hash onto [0, 1). */
export function toFraction(hash: number): number {
  return hash / 2 ** 32;
}

/** Maps a hash onto the integers of [from, to). */
export function toIntegerIn(hash: number, from: number, to: number): number {
  return from + Math.floor(toFraction(hash) * (to - from));
}

/** Picks a value in proportion to its weight. */
export function pickWeighted<T>(choices: WeightedChoices<T>, hash: number): T {
  let left = toFraction(hash) * choices.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [value, weight] of choices) {
    if (left < weight) return value;
    left -= weight;
  }
  return choices[0][0];
}
