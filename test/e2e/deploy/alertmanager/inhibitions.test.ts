import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERTMANAGER, Alertmanager } from '../../../support/alertmanager.ts';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { scaleDurations } from '../../../support/scale-durations.ts';
import { waitUntil } from '../../../support/wait-until.ts';

type Labels = Readonly<Record<string, string>>;

/**
 * Sends alerts to an Alertmanager with the shipped routes and lists its groups, and those that are silent.
 */
async function listGroups(alerts: readonly Labels[], silentCount: number) {
  const config = scaleDurations(readDeployFile('alertmanager/alertmanager.yml'), 30);
  await using alertmanager = await Alertmanager.start(config);
  await alertmanager.postAlerts(alerts);
  const isSilent = ({ status }: { status: { state: string } }) => status.state === 'suppressed';
  await waitUntil(
    () => alertmanager.alerts(),
    (all) => all.filter(isSilent).length === silentCount,
  );
  const groups = await alertmanager.groups();
  return groups.map(({ labels, alerts: members }) => ({
    labels,
    sent: members.filter((member) => !isSilent(member)).map((member) => member.labels),
  }));
}

test('expected streams of one code are one group, and those that another alert explains are silent', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  const critical = (alertname: string, code: string, taskName?: string): Labels => ({
    alertname,
    severity: 'critical',
    layer: 'data',
    service_code: code,
    ...(taskName !== undefined && { task_name: taskName }),
  });
  const groups = await listGroups(
    [
      critical('XvsExpectedTaskDown', 'A', 'main'),
      critical('XvsExpectedTaskSlow', 'A', 'main'),
      critical('XvsExpectedTaskSlow', 'A', 'backup'),
      critical('XvsTasksBelowExpected', 'A'),
      critical('XvsExpectedTaskDown', 'B', 'main'),
      critical('XvsExpectedTaskSlow', 'B', 'backup'),
      critical('XvsTasksBelowExpected', 'B'),
      critical('XvsIngestStopped', 'B'),
    ],
    4,
  );
  const sentOf = (key: string, value: string) =>
    groups
      .filter(({ labels }) => labels[key] === value)
      .map(({ sent }) =>
        sent.map(({ alertname, task_name: name = '' }) => `${alertname} ${name}`).toSorted(),
      );
  assert.equal(groups.length, 3);
  assert.deepEqual(sentOf('service_code', 'A'), [
    ['XvsExpectedTaskDown main', 'XvsExpectedTaskSlow backup', 'XvsTasksBelowExpected '],
  ]);
  assert.deepEqual(sentOf('service_code', 'B'), [[]]);
  assert.deepEqual(sentOf('alertname', 'XvsIngestStopped'), [['XvsIngestStopped ']]);
});
