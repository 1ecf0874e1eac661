import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SampleCache } from '../../src/tally/sample-cache.ts';

const A = ['a'];
const B = ['b'];

test('unchanged samples are cache as the same object', () => {
  const cache = new SampleCache('TESTING');
  const first = cache.update([A, B], [1, 2], [10, 20]);
  assert.equal(cache.update([A, B], [1, 2], [10, 20]), first);
  assert.equal(cache.update([['a'], ['b']], [1, 2], [10, 20]), first);
  assert.deepEqual(
    [...first],
    [
      { labels: ['TESTING', 'a'], value: 1, created: 10 },
      { labels: ['TESTING', 'b'], value: 2, created: 20 },
    ],
  );
});

test('changed columns are replaced, and the others are kept', () => {
  const cache = new SampleCache('TESTING');
  const first = cache.update([A, B], [1, 2], [10, 20]);
  const other = cache.update([A, B], [1, 3], [10, 20]);
  assert.notEqual(other, first);
  assert.deepEqual(
    [...first].map(({ value }) => value),
    [1, 2],
  );
  assert.deepEqual(other.values, [1, 3]);
  assert.equal(other.labelSets, first.labelSets);
  assert.equal(other.created, first.created);
  for (const [labelSets, values, created] of [
    [[A], [1], [10]],
    [
      [A, B],
      [1, 3],
      [10, 21],
    ],
    [
      [B, A],
      [1, 3],
      [10, 20],
    ],
    [
      [A, B],
      [1, Number.NaN],
      [10, 20],
    ],
    [[], [], []],
  ] as const) {
    const next = cache.update(labelSets, values, created);
    assert.deepEqual([next.labelSets, next.values, next.created], [labelSets, values, created]);
  }
});

test('a gauge has no creation time', () => {
  const cache = new SampleCache('TESTING');
  const gauges = cache.update([A], [1]);
  assert.deepEqual([...gauges], [{ labels: ['TESTING', 'a'], value: 1 }]);
  assert.equal(cache.update([A], [1]), gauges);
});
