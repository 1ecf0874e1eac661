import { ordinalOf, WHOLE, type Shard } from '../sharding/shard.ts';
import type { Merged } from './layers.ts';
import { environmentName, flagName } from './names.ts';
import { mismatch, show, type Problem } from './problem.ts';

/** Which shard this process is; without `shard.index`, by the ordinal of its host name. */
export function resolveShard({ read, find, origin }: Merged, hostName: () => string): Shard | Problem {
  const count = read('shard.count');
  const index = find('shard.index');
  if (index !== undefined) {
    if (index < count) return { index, count };
    const place = origin('shard.index')?.place() ?? 'shard.index';
    return { place, message: mismatch(`an index below shard.count, which is ${count}`, show(index)) };
  }
  if (count === 1) return WHOLE;
  const name = hostName();
  const ordinal = ordinalOf(name);
  if (ordinal !== undefined && ordinal < count) return { index: ordinal, count };
  const expected = `one that ends in the index of the shard, -0 to -${count - 1}`;
  const remedy = `set shard.index in the file, ${environmentName('shard.index')} or ${flagName('shard.index')}`;
  return { place: 'host name', message: mismatch(expected, show(name), remedy) };
}
