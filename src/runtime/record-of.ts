/** An object with the given keys, each with what `make` makes for it. */
export function recordOf<K extends string, T>(keys: readonly K[], make: (key: K) => T): Record<K, T> {
  const record: Partial<Record<K, T>> = {};
  for (const key of keys) record[key] = make(key);
  // They are all there now.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return record as Record<K, T>;
}

/** An object with the keys of another one, each with what `make` makes of its value there. */
export function mapRecord<K extends string, V, T>(
  record: Readonly<Record<K, V>>,
  make: (value: V) => T,
): Record<K, T> {
  // The library's type forgets the keys.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return recordOf(Object.keys(record) as K[], (key) => make(record[key]));
}
