import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERTMANAGER, Alertmanager } from '../../../support/alertmanager.ts';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { scaleDurations } from '../../../support/scale-durations.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { WebhookReceiver } from '../../../support/webhook-receiver.ts';

const SERVICE_CODES = Array.from({ length: 1000 }, (_, index) => `CODE-${index}`);

const createAlert = (alertname: string, severity: string, layer: string, labels: object = {}) => ({
  alertname,
  severity,
  layer,
  ...labels,
});

test('an outage of 1,000 service codes sends one critical notification', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  await using receiver = await WebhookReceiver.start();
  const shipped = readDeployFile('alertmanager/alertmanager.yml');
  const config = scaleDurations(shipped.replaceAll('http://localhost:9095', receiver.url), 30);
  await using alertmanager = await Alertmanager.start(config);
  await alertmanager.postAlerts([
    createAlert('XvsApiDownMajority', 'critical', 'api'),
    ...SERVICE_CODES.flatMap((code) => [
      createAlert('XvsApiDown', 'critical', 'api', { service_code: code }),
      createAlert('XvsApiErrors', 'warning', 'api', { service_code: code }),
      createAlert('XvsIngestStalledMajority', 'critical', 'data', { service_code: code }),
    ]),
    // Not part of the outage: its notification proves that Alertmanager has flushed all groups.
    createAlert('XvsConfigReloadFailed', 'warning', 'exporter', { instance: 'a:20928' }),
  ]);
  await waitUntil(
    () => receiver.notifications,
    (all) =>
      ['XvsApiDownMajority', 'XvsConfigReloadFailed'].every((name) =>
        all.some(({ labels }) => labels['alertname'] === name),
      ),
  );
  await waitUntil(
    () => alertmanager.alerts(),
    (all) => all.filter(({ status }) => status.state === 'suppressed').length === 3 * SERVICE_CODES.length,
  );
  assert.deepEqual(
    receiver.notifications.map(({ receiver: name, labels }) => `${name}: ${labels['alertname']}`).toSorted(),
    ['critical: XvsApiDownMajority', 'warning: XvsConfigReloadFailed'],
  );
});

test('slow tasks of 1,000 service codes are one group, and those that another alert explains are silent', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  await using alertmanager = await Alertmanager.start(
    scaleDurations(readDeployFile('alertmanager/alertmanager.yml'), 30),
  );
  const critical = (alertname: string, service_code: string, task_name?: string) =>
    createAlert(alertname, 'critical', 'data', {
      service_code,
      ...(task_name !== undefined && { task_name }),
    });
  await alertmanager.postAlerts([
    ...SERVICE_CODES.flatMap((code) =>
      ['main', 'backup'].map((name) => critical('XvsExpectedTaskSlow', code, name)),
    ),
    critical('XvsExpectedTaskDown', 'CODE-0', 'main'),
    critical('XvsIngestStopped', 'CODE-1'),
    critical('XvsIngestStalledMajority', 'CODE-2'),
  ]);
  const [group, ...others] = await waitUntil(
    async () =>
      (await alertmanager.groups()).filter(({ labels }) => labels['alertname'] === 'XvsExpectedTaskSlow'),
    (groups) =>
      groups.some(({ alerts }) => alerts.filter(({ status }) => status.state === 'suppressed').length === 5),
  );
  assert.deepEqual(group?.labels, { alertname: 'XvsExpectedTaskSlow' });
  assert.deepEqual(others, []);
  assert.deepEqual(
    group.alerts
      .filter(({ status }) => status.state === 'suppressed')
      .map(({ labels }) => `${labels['service_code']} ${labels['task_name']}`)
      .toSorted(),
    ['CODE-0 main', 'CODE-1 backup', 'CODE-1 main', 'CODE-2 backup', 'CODE-2 main'],
  );
});
