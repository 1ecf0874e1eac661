import { setImmediate as nextTurn } from 'node:timers/promises';

/** So few that whatever else waits for its turn does not wait long. */
const AT_ONCE = 20;

/**
 * What an act gives for each item, in their order. It goes on turn by turn, with so many items in each: of thousands,
 * scrapes and polls go on too.
 */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Result,
  atOnce = AT_ONCE,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % atOnce === 0) await nextTurn();
    results.push(act(item));
  }
  return results;
}
