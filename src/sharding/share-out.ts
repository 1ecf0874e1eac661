import { setImmediate as nextTurn } from 'node:timers/promises';
import { shardOf } from './rendezvous.ts';
import type { Shard } from './shard.ts';

/** Weights computed in a row, about a quarter of a millisecond, before scrapes and polls get their turn. */
const WEIGHTS_IN_A_ROW = 20_000;

/** The service codes of one shard. */
export async function shareOut(
  serviceCodes: readonly string[],
  { index, count }: Shard,
): Promise<ReadonlySet<string>> {
  if (count === 1) return new Set(serviceCodes);
  const own = new Set<string>();
  const inARow = Math.ceil(WEIGHTS_IN_A_ROW / count);
  for (let from = 0; from < serviceCodes.length; from += inARow) {
    if (from > 0) await nextTurn();
    for (const serviceCode of serviceCodes.slice(from, from + inARow)) {
      if (shardOf(serviceCode, count) === index) own.add(serviceCode);
    }
  }
  return own;
}
