import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soak } from './soak.ts';

/** Another one each time, unless XVS_SOAK_SEED gives it. */
const seed = Number(process.env['XVS_SOAK_SEED'] ?? Math.floor(Math.random() * 1e9));
const MINUTES = 0.5;

test(`half a minute of churn, faults and scrapes with seed ${seed}: every byte is accounted for, all that must hold does`, async () => {
  const report = await soak({ minutes: MINUTES, seed });
  assert.deepEqual(report.problems, []);
  assert.equal(report.difference, 0);
  assert.ok(report.mishaps > 3 && report.faults > 3, `Expected faults, found ${report.mishaps}`);
  assert.ok(report.scrapes.text > 20 && report.scrapes.openmetrics > 20);
});
