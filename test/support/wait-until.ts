import { setTimeout as delay } from 'node:timers/promises';

/** Asks every `intervalMs` until the answer is wanted, and returns it. Fails with the last answer after `timeoutMs`. */
export async function waitUntil<T>(
  ask: () => Promise<T> | T,
  isWanted: (answer: T) => boolean,
  timeoutMs = 120_000,
  intervalMs = 100,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await ask();
    if (isWanted(found)) return found;
    if (performance.now() > deadline)
      throw new Error(`Expected another answer, found ${JSON.stringify(found)}`);
    await delay(intervalMs);
  }
}
