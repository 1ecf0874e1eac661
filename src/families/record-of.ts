/** Makes a value for each key of a closed set. */
export function recordOf<Key extends string, Value>(
  keys: readonly Key[],
  make: (key: Key) => Value,
): Record<Key, Value>;
/**
 * Does the same for values of different types. The caller asserts `Result`: no type relates a key to its
 * value.
 */
export function recordOf<Result>(
  keys: readonly (keyof Result & string)[],
  make: (key: keyof Result & string) => unknown,
): Result;
export function recordOf(keys: readonly string[], make: (key: string) => unknown): unknown {
  const record: Record<string, unknown> = {};
  for (const key of keys) record[key] = make(key);
  return record;
}
