/** How many items a step of a job has handled. A job is a generator that yields such a number after each step. */
export type ItemCount = number;

/** A step ends after this number of items. */
const ITEMS_PER_STEP = 100;

/** Handles each item, in steps. `count` tells for how many an item counts. */
export function* runInSteps<Item>(
  items: Iterable<Item>,
  handle: (item: Item) => void,
  count: (item: Item) => number = () => 1,
): Generator<ItemCount, void> {
  let itemsInStep = 0;
  for (const item of items) {
    handle(item);
    itemsInStep += count(item);
    if (itemsInStep < ITEMS_PER_STEP) continue;
    yield itemsInStep;
    itemsInStep = 0;
  }
  yield itemsInStep;
}
