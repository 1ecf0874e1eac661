import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERTMANAGER, Alertmanager } from '../../../support/alertmanager.ts';
import { readAlertRules, readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { findWhatHides, readInhibitions } from '../../../support/night/notifications.ts';
import { Random } from '../../../support/random.ts';
import { scaleDurations } from '../../../support/scale-durations.ts';
import { waitUntil } from '../../../support/wait-until.ts';

const SETS = 60;
const ALERTS_OF_SET = 5;

/** Random alerts of the rules, in an installation of their own. */
function imagineAlerts(random: Random, cluster: string): readonly Readonly<Record<string, string>>[] {
  const rules = readAlertRules();
  const alerts = Array.from({ length: ALERTS_OF_SET }, () => {
    const { alert, labels } = random.pick(rules);
    return {
      alertname: alert,
      cluster,
      ...labels,
      ...(labels['layer'] !== 'exporter' && { service_code: random.pick(['A', 'B']) }),
      ...(alert.startsWith('XvsExpectedTask') && { task_name: random.pick(['main', 'backup']) }),
    };
  });
  return [...new Map(alerts.map((labels) => [JSON.stringify(labels), labels])).values()];
}

test('the random nights hide the alerts that Alertmanager hides', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  const text = readDeployFile('alertmanager/alertmanager.yml');
  const inhibitions = readInhibitions(text);
  const random = new Random(1);
  const sets = Array.from({ length: SETS }, (_, index) => imagineAlerts(random, `c${index}`));
  const expected = sets.flatMap((set) =>
    set.filter((labels) => findWhatHides(labels, set, inhibitions, []) !== undefined),
  );
  assert.ok(expected.length > 30);
  await using alertmanager = await Alertmanager.start(scaleDurations(text, 30));
  await alertmanager.postAlerts(sets.flat());
  const order = (alerts: readonly Readonly<Record<string, string>>[]): readonly string[] =>
    alerts
      .map((labels) => JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b))))
      .toSorted();
  const hidden = await waitUntil(
    () => alertmanager.alerts(),
    (all) => all.length === sets.flat().length && all.every(({ status }) => status.state !== 'unprocessed'),
  );
  assert.deepEqual(
    order(hidden.filter(({ status }) => status.state === 'suppressed').map(({ labels }) => labels)),
    order(expected),
  );
});
