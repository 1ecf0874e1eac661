/**
 * A 53-bit hash of a list of texts; a missing text equals an empty one.
 *
 * The state holds such hashes: changing the function requires a new version of its format.
 */
export function hashTexts(texts: readonly (string | undefined)[]): number {
  let low = 0;
  let high = 0x41c6ce57;
  const addUnit = (unit: number): void => {
    low = Math.imul(low ^ unit, 0x9e3779b1);
    high = Math.imul(high ^ unit, 0x5f356495);
  };
  for (const text of texts) {
    for (let index = 0; index < (text?.length ?? 0); index += 1) addUnit(text?.charCodeAt(index) ?? 0);
    // No UTF-16 unit has this value, so the place where a text ends changes the hash.
    addUnit(0x10000);
  }
  const mixedLow = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  const mixedHigh = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return (mixedHigh >>> 11) * 2 ** 32 + (mixedLow >>> 0);
}
