import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import type { FiringAlerts } from '../../../support/night/evaluation.ts';
import { PLANTED_FAULTS } from '../../../support/night/faults.ts';
import { evaluateNight, formatReport, checkAlerts } from '../../../support/night/report.ts';

const files = {
  rules: readDeployFile('prometheus/rules/alerts.yml'),
  alertmanager: readDeployFile('alertmanager/alertmanager.yml'),
};

/** By seed: a fault of an inhibition changes no evaluation. */
const evaluated = new Map<number, FiringAlerts>();

async function evaluate(seed: number, rules: string): Promise<FiringAlerts> {
  const known = rules === files.rules ? evaluated.get(seed) : undefined;
  const firing = known ?? (await evaluateNight(seed, { rules }));
  if (rules === files.rules) evaluated.set(seed, firing);
  return firing;
}

test('receivers are told what is so in 40 random nights, and nothing else', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  for (let seed = 1; seed <= 40; seed += 1) {
    const report = checkAlerts(seed, await evaluate(seed, files.rules), files);
    assert.deepEqual(report.violations, [], formatReport(report));
  }
});

for (const { name, seed, plant } of PLANTED_FAULTS)
  test(`the random night ${seed} finds that ${name}`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    const planted = plant(files);
    const { violations } = checkAlerts(seed, await evaluate(seed, planted.rules), planted);
    assert.notDeepEqual(violations, []);
  });
