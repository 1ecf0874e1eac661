import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelSet } from '../../../src/metrics/sample-columns.ts';
import { SampleBuffer } from '../../../src/tally/sample-buffer.ts';
import { SampleCache } from '../../../src/tally/sample-cache.ts';

const A = ['a'];
const B = ['b'];

function fillBuffer(
  labelSets: readonly LabelSet[],
  values: readonly number[],
  created: readonly number[] = [],
): SampleBuffer {
  const samples = new SampleBuffer();
  for (const [index, labels] of labelSets.entries()) samples.add(labels, values[index] ?? 0, created[index]);
  return samples;
}

test('unchanged samples are published as the same object', () => {
  const cache = new SampleCache('TESTING');
  const first = cache.update(fillBuffer([A, B], [1, 2], [10, 20]));
  assert.equal(cache.update(fillBuffer([A, B], [1, 2], [10, 20])), first);
  assert.equal(cache.update(fillBuffer([['a'], ['b']], [1, 2], [10, 20])), first);
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
  const first = cache.update(fillBuffer([A, B], [1, 2], [10, 20]));
  const other = cache.update(fillBuffer([A, B], [1, 3], [10, 20]));
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
    const next = cache.update(fillBuffer(labelSets, values, created));
    assert.deepEqual([next.labelSets, next.values, next.created ?? []], [labelSets, values, created]);
  }
});

test('a gauge has no creation time', () => {
  const cache = new SampleCache('TESTING');
  const gauges = cache.update(fillBuffer([A], [1]));
  assert.deepEqual([...gauges], [{ labels: ['TESTING', 'a'], value: 1 }]);
  assert.equal(cache.update(fillBuffer([A], [1])), gauges);
});
