import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { ALERTMANAGER, Alertmanager, type ReceivedAlert } from '../../../support/alertmanager.ts';
import { readDeployFile, readAlertRules } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { waitUntil } from '../../../support/wait-until.ts';

type Labels = Readonly<Record<string, string>>;

const alerts = readAlertRules();
const listAlertNames = (wanted: (layer: string, alert: string) => boolean): readonly string[] =>
  alerts.filter(({ alert, labels }) => wanted(labels['layer'] ?? '', alert)).map(({ alert }) => alert);

const DATA = listAlertNames((layer) => layer === 'data');
const EXPORTER_GONE = ['XvsExporterDown', 'XvsExporterAbsent'];

/** Alerts that each firing alert inhibits, for the same service code. */
const inhibitedAlerts: Readonly<Record<string, readonly string[]>> = {
  XvsExporterDown: listAlertNames((_, alert) => !EXPORTER_GONE.includes(alert)),
  XvsExporterAbsent: listAlertNames((_, alert) => !EXPORTER_GONE.includes(alert)),
  XvsShardMissing: ['XvsServiceCodeUnwatched'],
  XvsApiDownMajority: listAlertNames(
    (layer, alert) => layer !== 'exporter' && alert !== 'XvsApiDownMajority',
  ),
  XvsApiDown: [
    ...listAlertNames(
      (layer, alert) =>
        layer === 'api' && !['XvsApiDown', 'XvsApiDownMajority', 'XvsApiErrors'].includes(alert),
    ),
    ...DATA,
  ],
  XvsApiDataStale: DATA,
  XvsApiBudgetBurnFast: ['XvsApiBudgetBurnSlow', 'XvsApiErrorRatio'],
  XvsApiBudgetBurnSlow: ['XvsApiErrorRatio'],
  XvsIngestStalledMajority: ['XvsIngestStalled', 'XvsDeliveryBlackhole', 'XvsEgressDropped'],
  XvsTasksDropped: ['XvsUsersDropped', 'XvsEgressDropped', 'XvsServerImbalance', 'XvsOutputsUnwatched'],
  XvsTaskFlapping: ['XvsTaskChurnHigh'],
};

/** The labels of an alert as Prometheus sends it. Alerts on the exporter and on most codes have no service code. */
function createLabels(alertname: string, more: Labels): Labels {
  const { labels = {} } = alerts.find(({ alert }) => alert === alertname) ?? {};
  const isForCode = labels['layer'] !== 'exporter' && alertname !== 'XvsApiDownMajority';
  return { alertname, ...labels, ...(isForCode ? { service_code: 'A' } : {}), ...more };
}

/** The inhibited alerts of one installation. */
function listInhibited(held: readonly ReceivedAlert[], namespace: string): readonly string[] {
  return held
    .filter(({ labels, status }) => labels['namespace'] === namespace && status.inhibitedBy.length > 0)
    .map(({ labels }) => labels['alertname'] ?? '')
    .toSorted();
}

/** Waits until Alertmanager has processed every alert and inhibits the expected number; it updates inhibitions separately. */
async function waitForAlerts(
  alertmanager: Alertmanager,
  count: number,
  inhibitedCount: number,
): Promise<readonly ReceivedAlert[]> {
  return await waitUntil(
    () => alertmanager.alerts(),
    (all) =>
      all.length === count &&
      all.every(({ status }) => status.state !== 'unprocessed') &&
      all.filter(({ status }) => status.inhibitedBy.length > 0).length >= inhibitedCount,
  );
}

// Each pair of alerts has its own namespace, so one Alertmanager can test all pairs.
test('a firing alert inhibits its dependent alerts and no others', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  await using alertmanager = await Alertmanager.start(parse(readDeployFile('alertmanager/alertmanager.yml')));
  const pairs = alerts.flatMap(({ alert: source }) =>
    alerts.filter(({ alert }) => alert !== source).map(({ alert: target }) => ({ source, target })),
  );
  await alertmanager.postAlerts(
    pairs.flatMap(({ source, target }) =>
      [source, target].map((name) => createLabels(name, { namespace: `${source}/${target}` })),
    ),
  );
  const inhibited = pairs.flatMap(({ source, target }) => [
    ...(inhibitedAlerts[source]?.includes(target) === true ? [target] : []),
    ...(inhibitedAlerts[target]?.includes(source) === true ? [source] : []),
  ]);
  const held = await waitForAlerts(alertmanager, 2 * pairs.length, inhibited.length);
  for (const { source, target } of pairs) {
    const expected = [
      ...(inhibitedAlerts[source]?.includes(target) === true ? [target] : []),
      ...(inhibitedAlerts[target]?.includes(source) === true ? [source] : []),
    ];
    assert.deepEqual(
      listInhibited(held, `${source}/${target}`),
      expected.toSorted(),
      `${source} and ${target}`,
    );
  }
});

test('an alert on one service code inhibits no alert on another', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  await using alertmanager = await Alertmanager.start(parse(readDeployFile('alertmanager/alertmanager.yml')));
  await alertmanager.postAlerts([
    createLabels('XvsApiDown', { service_code: 'A' }),
    createLabels('XvsIngestStalled', { service_code: 'A', vs_id: 's1' }),
    createLabels('XvsIngestStalled', { service_code: 'B', vs_id: 's1' }),
    { alertname: 'DiskFull', severity: 'critical', service_code: 'A' },
  ]);
  const held = await waitForAlerts(alertmanager, 4, 1);
  const silent = held.filter(({ status }) => status.state === 'suppressed').map(({ labels }) => labels);
  assert.deepEqual(silent, [createLabels('XvsIngestStalled', { service_code: 'A', vs_id: 's1' })]);
});

test('inhibition works with static labels, even if they change while the alert fires', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  await using alertmanager = await Alertmanager.start(parse(readDeployFile('alertmanager/alertmanager.yml')));
  const stalled = createLabels('XvsIngestStalled', { vs_id: 's1', tenant: 'acme' });
  await alertmanager.postAlerts([
    createLabels('XvsApiDown', { tenant: 'acme' }),
    stalled,
    { ...stalled, tenant: 'globex' },
    { ...stalled, service_code: 'B' },
  ]);
  const held = await waitForAlerts(alertmanager, 4, 2);
  const silent = held
    .filter(({ status }) => status.state === 'suppressed')
    .map(({ labels }) => labels['tenant'] ?? '');
  assert.deepEqual(silent.toSorted(), ['acme', 'globex']);
});

test('alertmanager.yml names existing alerts only', () => {
  const { inhibit_rules: rules } = z
    .object({
      inhibit_rules: z.array(
        z.object({ source_matchers: z.array(z.string()), target_matchers: z.array(z.string()) }),
      ),
    })
    .parse(parse(readDeployFile('alertmanager/alertmanager.yml')));
  const matchers = rules.flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers]);
  const names = new Set(matchers.flatMap((matcher) => matcher.match(/Xvs\w+/g) ?? []));
  const existing = new Set(alerts.map(({ alert }) => alert));
  assert.deepEqual(
    [...names].filter((name) => name !== 'Xvs' && !existing.has(name)),
    [],
  );
});
