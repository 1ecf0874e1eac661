import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodeLabels } from '../../../src/metrics/exposition/code-labels.ts';

const code = (serviceCode: string, labels: Readonly<Record<string, string>> = {}) => ({
  serviceCode,
  labels,
});

test('unchanged labels stay the same object when they are set again', () => {
  const labels = new CodeLabels();
  assert.deepEqual(labels.update([code('A', { tenant: 'acme' }), code('B')]), ['A']);
  const before = labels.get('A');
  assert.deepEqual(labels.update([code('A', { tenant: 'acme' }), code('B')]), []);
  assert.equal(labels.get('A'), before);
});

test('update returns codes with changed, added and removed labels', () => {
  const labels = new CodeLabels();
  labels.update([code('A', { tenant: 'acme' }), code('B', { tenant: 'acme' }), code('C')]);
  const next = [code('A', { tenant: 'globex' }), code('B'), code('C', { env: 'test' })];
  assert.deepEqual(labels.update(next), ['A', 'B', 'C']);
  assert.deepEqual(
    [labels.get('A'), labels.get('B'), labels.get('C')],
    [{ tenant: 'globex' }, {}, { env: 'test' }],
  );
});

test('a removed code has no labels', () => {
  const labels = new CodeLabels();
  labels.update([code('A', { tenant: 'acme' })]);
  labels.retainOnly([]);
  assert.deepEqual(labels.get('A'), {});
});
