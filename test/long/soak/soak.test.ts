import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soak } from './soak.ts';

const seed = Number(process.env['XVS_TEST_SEED'] ?? 1);
const MINUTES = 0.5;

test(`the exporter counts all bytes during 30 s of churn, faults, scrapes and kills with seed ${seed}`, async () => {
  const report = await soak({ minutes: MINUTES, seed });
  assert.deepEqual(report.problems, []);
  assert.equal(report.differenceBytes, 0);
  assert.ok(
    report.injectionCount > 1 && report.faultKindCount > 1,
    `Expected faults, found ${report.injectionCount}`,
  );
  assert.ok(report.scrapes.text > 5 && report.scrapes.openmetrics > 5);
});
