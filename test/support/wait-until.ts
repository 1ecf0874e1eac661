import { setTimeout as delay } from 'node:timers/promises';

/** Asks until the answer is as wanted, and returns it; fails with the last one after `timeoutMs`. */
export async function until<T>(
  ask: () => Promise<T> | T,
  isWanted: (answer: T) => boolean,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await ask();
    if (isWanted(found)) return found;
    if (performance.now() > deadline)
      throw new Error(`Expected another answer, found ${JSON.stringify(found)}`);
    await delay(250);
  }
}
