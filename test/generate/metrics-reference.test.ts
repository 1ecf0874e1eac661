import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { metricsReference } from '../../src/metrics/reference.ts';
import { assertGolden } from '../support/fixtures.ts';

test('docs/metrics.md is what the catalogue says', () => {
  assertGolden('../../docs/metrics.md', metricsReference());
});

test('the reference has every family once', () => {
  for (const { name } of Object.values(CATALOGUE)) {
    assert.equal(metricsReference().split(`| \`${name}\` |`).length - 1, 1, name);
  }
});
