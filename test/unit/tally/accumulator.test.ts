import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabelSums } from '../../../src/tally/accumulator.ts';
import { AccumulatorPool } from '../../../src/tally/accumulator.ts';

/** More label sets than a tree keeps. */
const MANY = 10_000;

const shown = (sums: LabelSums) => [...sums].map(({ key, labels, value }) => ({ key, labels, value }));

test('cleared sums contain only values added later, in that order', () => {
  const sums = new LabelSums();
  sums.at('a').at('x').add(3);
  sums.at('b').at('y').add(4);
  sums.clear();
  assert.deepEqual(shown(sums), []);
  sums.at('b').at('y').add(1);
  sums.at('a').at('x').add(0);
  sums.at('b').at('y').add(1);
  assert.deepEqual(shown(sums), [
    { key: 'b\u0000y', labels: ['b', 'y'], value: 2 },
    { key: 'a\u0000x', labels: ['a', 'x'], value: 0 },
  ]);
});

test('a tree with too many nodes is discarded when its sums are cleared', () => {
  const sums = new LabelSums();
  const kept = sums.at('a');
  for (let label = 0; label < MANY; label += 1) sums.at(String(label)).add(1);
  sums.clear();
  assert.notEqual(sums.at('a'), kept);
  sums.at('7').add(1);
  assert.deepEqual(shown(sums), [{ key: '7', labels: ['7'], value: 1 }]);
});

test('a released accumulator is empty when it is acquired again', () => {
  const pool = new AccumulatorPool();
  const accumulator = pool.acquire();
  accumulator.gauges.tasksStalled.at('a server').add(1);
  accumulator.increases.inputBytes.at('a server').add(1);
  pool.release(accumulator);
  const again = pool.acquire();
  assert.equal(again, accumulator);
  assert.deepEqual([...again.gauges.tasksStalled, ...again.increases.inputBytes], []);
});

test('acquire never returns an accumulator in use', () => {
  const pool = new AccumulatorPool();
  assert.notEqual(pool.acquire(), pool.acquire());
});
