import { setTimeout as delay } from 'node:timers/promises';

/** Ends a test that hangs. A loaded machine takes many times as long as an idle one. */
const TIMEOUT_MS = 900_000;

/** Calls `read` every `intervalMs` until `isWanted` accepts its value, and returns it. Rejects after `timeoutMs`. */
export async function waitUntil<T>(
  read: () => Promise<T> | T,
  isWanted: (value: T) => boolean,
  timeoutMs = TIMEOUT_MS,
  intervalMs = 100,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await read();
    if (isWanted(found)) return found;
    if (performance.now() > deadline)
      throw new Error(`Expected another value within ${timeoutMs} ms, found ${JSON.stringify(found)}`);
    await delay(intervalMs);
  }
}

/** Calls `read` until it gives a value. */
export async function waitForValue<T>(read: () => Promise<T> | T, expected: T): Promise<void> {
  await waitUntil(read, (found) => found === expected);
}
