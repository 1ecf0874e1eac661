import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { listKnownSeries } from '../../../support/known-names.ts';
import { PLANTED_FAULTS } from '../../../support/night/faults.ts';
import { readInhibitions } from '../../../support/night/notifications.ts';
import { formatReport, runNight } from '../../../support/night/report.ts';
import { imagineNight } from '../../../support/night/script.ts';
import { exposeNight } from '../../../support/night/series.ts';

const files = {
  rules: readDeployFile('prometheus/rules/alerts.yml'),
  alertmanager: readDeployFile('alertmanager/alertmanager.yml'),
};

// An ingest cut among tasks that have long been silent, a stream that comes and goes after a loss, and an end
// that is planned minutes after a recovery.
for (const seed of [2, 17, 8])
  test(`receivers are told what is so in the random night ${seed}, and nothing else`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    const report = await runNight(seed, files);
    assert.deepEqual(report.violations, [], formatReport(report));
  });

test('a night has only series that the exporter exposes', async () => {
  const known = await listKnownSeries();
  const night = imagineNight(1);
  const unknown = [...exposeNight(night, 0).keys()].flatMap((series) => {
    const [name = '', labels = ''] = series.split('{');
    const own = known.get(name);
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
    return own !== undefined && names.every((label) => own.has(label)) ? [] : [series];
  });
  assert.deepEqual(unknown, []);
});

test('a fault is planted in each inhibition of a service code', () => {
  const planted = PLANTED_FAULTS.map(({ plant }) => plant(files));
  const inhibitions = readInhibitions(files.alertmanager);
  const sound = inhibitions.flatMap(({ equal }, index) => {
    const isWidened = planted.some(
      ({ alertmanager }) => readInhibitions(alertmanager)[index]?.equal.includes('service_code') === false,
    );
    // A night has no certificates: the one alert with two severities.
    const isOfCode = equal.includes('service_code') && !equal.includes('alertname');
    return isOfCode && !isWidened ? [inhibitions[index]] : [];
  });
  assert.deepEqual(sound, []);
});
