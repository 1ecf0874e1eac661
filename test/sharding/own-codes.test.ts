import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardOf } from '../../src/sharding/rendezvous.ts';
import { shareOut } from '../../src/sharding/share-out.ts';

const codes = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `code-${at}`);

test('all shards together have each code once', async () => {
  const all = codes(1000);
  const shares = await Promise.all([0, 1, 2].map((index) => shareOut(all, { index, count: 3 })));
  assert.deepEqual(shares.flatMap((share) => [...share]).toSorted(), all.toSorted());
  for (const [index, share] of shares.entries()) {
    assert.ok([...share].every((code) => shardOf(code, 3) === index));
  }
});

test('one shard has them all, and a shard may have none', async () => {
  assert.deepEqual([...(await shareOut(['A', 'B'], { index: 0, count: 1 }))], ['A', 'B']);
  const owner = shardOf('A', 2);
  assert.deepEqual([...(await shareOut(['A'], { index: 1 - owner, count: 2 }))], []);
  assert.deepEqual([...(await shareOut([], { index: 0, count: 2 }))], []);
});

test('others get their turn every twenty thousand weights', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await shareOut(codes(100_000), { index: 0, count: 20 });
  isOver = true;
  assert.ok(turns >= 99, `${turns} turns`);
});
