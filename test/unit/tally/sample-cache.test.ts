import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelSet } from '../../../src/metrics/catalogue/sample-columns.ts';
import { SampleCache } from '../../../src/tally/sample-cache.ts';

const A = ['a'];
const B = ['b'];

const toRows = (labelSets: readonly LabelSet[], values: readonly number[]) =>
  labelSets.map((labels, index) => ({ labels, value: values[index] ?? 0 }));

test('unchanged samples are published as the same object', () => {
  const cache = new SampleCache('TESTING');
  const first = cache.update(toRows([A, B], [1, 2]));
  assert.equal(cache.update(toRows([A, B], [1, 2])), first);
  assert.equal(cache.update(toRows([['a'], ['b']], [1, 2])), first);
  assert.deepEqual(
    [...first],
    [
      { labels: ['TESTING', 'a'], value: 1 },
      { labels: ['TESTING', 'b'], value: 2 },
    ],
  );
});

test('changed columns are replaced, and the others are kept', () => {
  const cache = new SampleCache('TESTING');
  const first = cache.update(toRows([A, B], [1, 2]));
  const other = cache.update(toRows([A, B], [1, 3]));
  assert.notEqual(other, first);
  assert.deepEqual(
    [...first].map(({ value }) => value),
    [1, 2],
  );
  assert.deepEqual(other.values, [1, 3]);
  assert.equal(other.labelSets, first.labelSets);
  const changes = [toRows([A], [1]), toRows([B, A], [1, 3]), toRows([A, B], [1, Number.NaN]), toRows([], [])];
  for (const rows of changes) {
    const next = cache.update(rows);
    assert.deepEqual(
      [next.labelSets, next.values],
      [rows.map(({ labels }) => labels), rows.map(({ value }) => value)],
    );
  }
});
