import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import { renderMetricsReference } from '../../../scripts/generate/metrics-reference.ts';
import { assertGolden } from '../../support/fixtures.ts';

test('docs/metrics.md matches the catalogue', () => {
  assertGolden('../../docs/metrics.md', renderMetricsReference());
});

test('the reference contains every family once', () => {
  for (const { name } of Object.values(CATALOGUE)) {
    assert.equal(renderMetricsReference().split(`| \`${name}\` |`).length - 1, 1, name);
  }
});
