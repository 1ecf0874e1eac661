import { mapYielding } from '../runtime/concurrency.ts';
import { selectShard } from './rendezvous.ts';
import type { Shard } from './shard.ts';

/** About a quarter of a millisecond of work between two yields to the event loop. */
const WEIGHTS_PER_YIELD = 20_000;

/** Selects the service codes that a shard polls. */
export async function ownCodes(
  serviceCodes: readonly string[],
  { index, count }: Shard,
): Promise<ReadonlySet<string>> {
  if (count === 1) return new Set(serviceCodes);
  const isOwn = (serviceCode: string): boolean => selectShard(serviceCode, count) === index;
  const chosen = await mapYielding(serviceCodes, isOwn, Math.ceil(WEIGHTS_PER_YIELD / count));
  return new Set(serviceCodes.filter((_, at) => chosen[at] === true));
}
