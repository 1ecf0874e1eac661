/** Builds an object with the given keys. */
export function recordOf<K extends string, T>(keys: readonly K[], make: (key: K) => T): Record<K, T> {
  const record: Partial<Record<K, T>> = {};
  for (const key of keys) record[key] = make(key);
  // The loop has set every key.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return record as Record<K, T>;
}
