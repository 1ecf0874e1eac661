import { test } from 'node:test';
import { renderMetricsReference } from '../../../scripts/generate/metrics-reference.ts';
import { assertGolden } from '../../support/fixtures.ts';

test('docs/metrics.md matches the catalogue', () => {
  assertGolden('../../docs/metrics.md', renderMetricsReference());
});
