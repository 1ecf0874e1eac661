import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabelSums } from '../../src/tally/label-sums.ts';
import { Worksheets } from '../../src/tally/worksheet.ts';

/** More than a tree keeps. */
const MANY = 10_000;

const shown = (sums: LabelSums) => [...sums].map(({ key, labels, value }) => ({ key, labels, value }));

test('sums that begin anew hold what is added from then on, in that order', () => {
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

test('sums that begin anew after label sets without end begin with an empty tree', () => {
  const sums = new LabelSums();
  const kept = sums.at('a');
  for (let label = 0; label < MANY; label += 1) sums.at(String(label)).add(1);
  sums.clear();
  assert.notEqual(sums.at('a'), kept);
  sums.at('7').add(1);
  assert.deepEqual(shown(sums), [{ key: '7', labels: ['7'], value: 1 }]);
});

test('a sheet that is given back is empty when it is taken again', () => {
  const worksheets = new Worksheets();
  const sheet = worksheets.take();
  sheet.gauges.tasks.at('a server').add(1);
  sheet.gains.inputBytes.at('a server').add(1);
  worksheets.giveBack(sheet);
  const again = worksheets.take();
  assert.equal(again, sheet);
  assert.deepEqual([...again.gauges.tasks, ...again.gains.inputBytes], []);
});

test('a sheet that is out is given to nobody else', () => {
  const worksheets = new Worksheets();
  assert.notEqual(worksheets.take(), worksheets.take());
});
