import type { ItemCount } from './steps.ts';

/** Builds an object with the given keys. */
export function recordOf<K extends string, T>(keys: readonly K[], make: (key: K) => T): Record<K, T> {
  const record: Partial<Record<K, T>> = {};
  for (const key of keys) record[key] = make(key);
  // The loop has set every key.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return record as Record<K, T>;
}

/** Builds an object with the given keys, one in each step. `count` tells how many items the value of a key has taken. */
export function* recordInSteps<K extends string, T>(
  keys: readonly K[],
  make: (key: K) => T,
  count: (value: T) => ItemCount,
): Generator<ItemCount, Record<K, T>> {
  const record: Partial<Record<K, T>> = {};
  for (const key of keys) {
    const value = make(key);
    record[key] = value;
    yield count(value);
  }
  // The loop has set every key.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return record as Record<K, T>;
}
