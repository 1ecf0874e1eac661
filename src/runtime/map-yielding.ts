import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maps items in order, `itemsPerTurn` in a turn of the event loop: polls and scrapes run in between. */
export async function mapYielding<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
  itemsPerTurn: number,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % itemsPerTurn === 0) await nextTurn();
    results.push(map(item));
  }
  return results;
}
