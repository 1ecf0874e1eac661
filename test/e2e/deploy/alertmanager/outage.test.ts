import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERTMANAGER, Alertmanager } from '../../../support/alertmanager.ts';
import { readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { scaleDurations } from '../../../support/scale-durations.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { WebhookReceiver } from '../../../support/webhook-receiver.ts';

const SERVICE_CODES = Array.from({ length: 1000 }, (_, index) => `CODE-${index}`);

test('an outage of 1,000 service codes sends one critical notification', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  await using receiver = await WebhookReceiver.start();
  const shipped = readDeployFile('alertmanager/alertmanager.yml');
  const config = scaleDurations(shipped.replaceAll('http://localhost:9095', receiver.url), 30);
  await using alertmanager = await Alertmanager.start(config);
  const alert = (alertname: string, severity: string, layer: string, labels: object) => ({
    alertname,
    severity,
    layer,
    ...labels,
  });
  await alertmanager.postAlerts([
    alert('XvsApiDownMajority', 'critical', 'api', {}),
    ...SERVICE_CODES.flatMap((code) => [
      alert('XvsApiDown', 'critical', 'api', { service_code: code }),
      alert('XvsApiErrors', 'warning', 'api', { service_code: code }),
      alert('XvsIngestStalledMajority', 'critical', 'data', { service_code: code }),
    ]),
    // Not part of the outage: its notification proves that Alertmanager has flushed all groups.
    alert('XvsConfigReloadFailed', 'warning', 'exporter', { instance: 'a:20928' }),
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
