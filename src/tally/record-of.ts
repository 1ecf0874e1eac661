/** An object with the given keys, each with what `make` makes for it. */
export function recordOf<K extends string, T>(keys: readonly K[], make: (key: K) => T): Record<K, T> {
  const entries = keys.map((key): [K, T] => [key, make(key)]);
  // The library's type forgets the keys; they are all there.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(entries) as Record<K, T>;
}
