import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { CodeLabels } from '../../src/metrics/code-labels.ts';
import type { Family } from '../../src/metrics/family.ts';

const code = (serviceCode: string, labels: Readonly<Record<string, string>> = {}) => ({
  serviceCode,
  labels,
});

const up = (...codes: readonly string[]): Family => ({
  spec: CATALOGUE.up,
  samples: codes.map((serviceCode) => ({ labels: [serviceCode], value: 1 })),
});

test('labels that are as before stay the same object, also when they are given anew', () => {
  const labels = new CodeLabels();
  assert.deepEqual(labels.set([code('A', { tenant: 'acme' }), code('B')]), ['A']);
  const before = labels.of('A');
  assert.deepEqual(labels.set([code('A', { tenant: 'acme' }), code('B')]), []);
  assert.equal(labels.of('A'), before);
  labels.keepOnly([code('A')]);
  assert.deepEqual(labels.set([code('C', { tenant: 'acme' })]), ['C']);
  assert.equal(labels.of('C'), before);
});

test('other labels, labels that come and labels that go are told', () => {
  const labels = new CodeLabels();
  labels.set([code('A', { tenant: 'acme' }), code('B', { tenant: 'acme' }), code('C')]);
  const next = [code('A', { tenant: 'globex' }), code('B'), code('C', { env: 'test' })];
  assert.deepEqual(labels.set(next), ['A', 'B', 'C']);
  assert.deepEqual(
    [labels.of('A'), labels.of('B'), labels.of('C')],
    [{ tenant: 'globex' }, {}, { env: 'test' }],
  );
});

test('a code that has gone has no labels', () => {
  const labels = new CodeLabels();
  labels.set([code('A', { tenant: 'acme' })]);
  labels.keepOnly([]);
  assert.deepEqual(labels.of('A'), {});
});

test('a family is split where some code has labels, and is as it was where none has', () => {
  const labels = new CodeLabels();
  labels.set([code('A'), code('B')]);
  const family = up('A', 'B', 'C', 'D');
  assert.deepEqual(labels.split(family), [family]);
  assert.equal(labels.split(family)[0], family);
  labels.set([code('B', { tenant: 'acme' }), code('C', { tenant: 'globex' }), code('D', { tenant: 'acme' })]);
  assert.deepEqual(labels.split(family), [
    up('A'),
    { ...up('B', 'D'), staticLabels: { tenant: 'acme' } },
    { ...up('C'), staticLabels: { tenant: 'globex' } },
  ]);
  const ofProcess: Family = { spec: CATALOGUE.buildInfo, samples: [{ labels: ['1', 'r', 'v'], value: 1 }] };
  assert.deepEqual(labels.split(ofProcess), [ofProcess]);
});
