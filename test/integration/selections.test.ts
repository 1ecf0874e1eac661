import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../src/metrics/catalogue/catalogue.ts';
import { countSeries } from '../../src/metrics/exposition/exposition.ts';
import type { Family } from '../../src/metrics/catalogue/family.ts';
import { CODES } from './rig-configuration.ts';
import { Rig } from './rig.ts';

const listNames = (families: readonly Family[]): readonly string[] => [
  ...new Set(families.map(({ spec }) => spec.name)),
];

test('the selections of metrics add up to all metrics', async (t) => {
  await using rig = await Rig.start();
  await rig.poll();
  const { facade } = rig.exporter;
  const all = (await facade.collect()).families;
  const ofCodes = all.filter(({ spec }) => spec.labels.includes('service_code'));
  const ofProcess = (await facade.collect('exporter')).families;

  await t.test('the families of the process are all others', () => {
    assert.deepEqual([...listNames(ofCodes), ...listNames(ofProcess)], listNames(all));
    assert.ok(ofProcess.every(({ spec }) => !spec.labels.includes('service_code')));
  });

  await t.test('the expositions of single service codes add up to that of all', async () => {
    const each = await Promise.all(CODES.map((code) => facade.collect({ serviceCode: code })));
    const counts = each.map(({ families }) => countSeries(families));
    assert.ok(counts.every((count) => count > 0));
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      countSeries(ofCodes),
    );
  });

  await t.test('xvs_exporter_series counts all series even if only the process is selected', () => {
    const [sample] = ofProcess.find(({ spec }) => spec === CATALOGUE.series)?.samples ?? [];
    assert.ok(sample !== undefined && 'value' in sample);
    assert.equal(sample.value, countSeries(ofProcess) + countSeries(ofCodes));
  });
});
