/** An object with the given keys, each with what `make` makes for it. */
export function recordOf<K extends string, T>(keys: readonly K[], make: (key: K) => T): Record<K, T> {
  const entries = keys.map((key): [K, T] => [key, make(key)]);
  // The library's type forgets the keys; they are all there.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(entries) as Record<K, T>;
}

/** An object with the keys of another one, each with what `make` makes of its value there. */
export function mapRecord<K extends string, V, T>(
  record: Readonly<Record<K, V>>,
  make: (value: V) => T,
): Record<K, T> {
  const entries = Object.entries<V>(record).map(([key, value]): [string, T] => [key, make(value)]);
  // The library's types forget the keys; they are all there.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(entries) as Record<K, T>;
}
