/** As many as are worth having under way at once: more would only hold files open, of which a process may have few. */
const BATCH_SIZE = 32;

/** What a call gives for each item, in their order, a few calls at a time. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  call: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += BATCH_SIZE) {
    results.push(...(await Promise.all(items.slice(start, start + BATCH_SIZE).map(call))));
  }
  return results;
}
