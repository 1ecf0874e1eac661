import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { PLANTED_FAULTS } from '../../../support/night/faults.ts';
import { formatReport, runNight } from '../../../support/night/report.ts';

const files = {
  rules: readDeployFile('prometheus/rules/alerts.yml'),
  alertmanager: readDeployFile('alertmanager/alertmanager.yml'),
};

test('receivers are told what is so in 40 random nights, and nothing else', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  for (let seed = 1; seed <= 40; seed += 1) {
    const report = await runNight(seed, files);
    assert.deepEqual(report.violations, [], formatReport(report));
  }
});

for (const { name, seed, plant } of PLANTED_FAULTS)
  test(`the random night ${seed} finds that ${name}`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    assert.notDeepEqual((await runNight(seed, plant(files))).violations, []);
  });
