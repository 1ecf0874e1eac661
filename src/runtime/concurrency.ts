import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ItemCount } from './steps.ts';

/** Few enough that scrapes and polls do not wait noticeably. */
const DEFAULT_ITEMS_PER_YIELD = 20;

/** Maps items in order and yields to the event loop after every `itemsPerYield` of them. */
export async function mapYielding<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
  itemsPerYield = DEFAULT_ITEMS_PER_YIELD,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % itemsPerYield === 0) await yieldToEventLoop();
    results.push(map(item));
  }
  return results;
}

/** Runs a job to its end, and yields to the event loop whenever steps have handled `itemsPerYield` items together. */
export async function runInTurns<Result>(
  job: Iterator<ItemCount, Result>,
  itemsPerYield: number,
): Promise<Result> {
  let items = 0;
  for (;;) {
    const step = job.next();
    if (step.done === true) return step.value;
    items += step.value;
    if (items < itemsPerYield) continue;
    items = 0;
    await yieldToEventLoop();
  }
}
