import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectShard } from '../../../src/sharding/rendezvous.ts';
import { ownCodes } from '../../../src/sharding/own-codes.ts';

const createCodes = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `code-${at}`);

test('every service code belongs to exactly one shard', async () => {
  const all = createCodes(1000);
  const owned = await Promise.all([0, 1, 2].map((index) => ownCodes(all, { index, count: 3 })));
  assert.deepEqual(owned.flatMap((codes) => [...codes]).toSorted(), all.toSorted());
  for (const [index, codes] of owned.entries()) {
    assert.ok([...codes].every((code) => selectShard(code, 3) === index));
  }
});

test('a single shard has all service codes, and one of several shards may have none', async () => {
  assert.deepEqual([...(await ownCodes(['A', 'B'], { index: 0, count: 1 }))], ['A', 'B']);
  const owner = selectShard('A', 2);
  assert.deepEqual([...(await ownCodes(['A'], { index: 1 - owner, count: 2 }))], []);
  assert.deepEqual([...(await ownCodes([], { index: 0, count: 2 }))], []);
});

test('the event loop runs after every 20,000 weights', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await ownCodes(createCodes(100_000), { index: 0, count: 20 });
  isOver = true;
  assert.ok(turns >= 99, `${turns} turns`);
});
