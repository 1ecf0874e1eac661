import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

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
