import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { buildOutputsListing } from '../../e2e/attack/hostile-service.ts';
import { assertNamesakesDown, attack, CODE, hasSurplus } from '../../e2e/attack/listing-attack.ts';
import { sumSeries } from '../../support/series.ts';

test('140,000 tasks of one expected name without input are a task that is down', async (t) => {
  await assertNamesakesDown(t, [0]);
});

test('five million outputs of 5,000 tasks are counted, and those beyond the share of the heap have no accounts', async (t) => {
  const series = await attack(t, [buildOutputsListing(5000)]);
  assert.equal(sumSeries(series, CATALOGUE.listingTasks.name, CODE), 5000);
  assert.ok(hasSurplus(series, 'task'));
});
