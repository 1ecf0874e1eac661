import { setTimeout as delay } from 'node:timers/promises';

/**
 * Ends a wait that hangs. A loaded machine takes many times as long as an idle one, so no wait has a shorter
 * time.
 */
export const WAIT_LIMIT_MS = 900_000;

/** Calls `read` every 100 ms until `isWanted` accepts its value, and returns it. */
export async function waitUntil<T>(read: () => Promise<T> | T, isWanted: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    const found = await read();
    if (isWanted(found)) return found;
    if (performance.now() > deadline)
      throw new Error(
        `Expected another value within ${WAIT_LIMIT_MS / 60_000} min, found ${JSON.stringify(found)}`,
      );
    await delay(100);
  }
}

/** Calls `read` until it gives a value. */
export async function waitForValue<T>(read: () => Promise<T> | T, expected: T): Promise<void> {
  await waitUntil(read, (found) => found === expected);
}
