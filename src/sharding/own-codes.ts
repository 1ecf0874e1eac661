import { inTurns } from '../in-turns.ts';
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
  const isOwn = (serviceCode: string): boolean => shardOf(serviceCode, count) === index;
  const chosen = await inTurns(serviceCodes, isOwn, Math.ceil(WEIGHTS_IN_A_ROW / count));
  return new Set(serviceCodes.filter((_, at) => chosen[at] === true));
}
