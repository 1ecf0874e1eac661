import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { ALERTMANAGER, Alertmanager, type HeldAlert } from '../../support/alertmanager.ts';
import { deployedText, shippedAlerts } from '../../support/deployed.ts';
import { isInstalled } from '../../support/installed.ts';
import { until } from '../../support/until.ts';

type Labels = Readonly<Record<string, string>>;

const alerts = shippedAlerts();
const named = (wanted: (layer: string, alert: string) => boolean): readonly string[] =>
  alerts.filter(({ alert, labels }) => wanted(labels['layer'] ?? '', alert)).map(({ alert }) => alert);

const DATA = named((layer) => layer === 'data');
const EXPORTER_GONE = ['XvsExporterDown', 'XvsExporterAbsent'];

/** Which alerts a firing one silences, of the same service code. */
const silenced: Readonly<Record<string, readonly string[]>> = {
  XvsExporterDown: named((_, alert) => !EXPORTER_GONE.includes(alert)),
  XvsExporterAbsent: named((_, alert) => !EXPORTER_GONE.includes(alert)),
  XvsShardMissing: ['XvsServiceCodeUnwatched'],
  XvsApiDown: [
    ...named((layer, alert) => layer === 'api' && alert !== 'XvsApiDown' && alert !== 'XvsApiErrors'),
    ...DATA,
  ],
  XvsApiDataStale: DATA,
  XvsApiBudgetBurnFast: ['XvsApiBudgetBurnSlow', 'XvsApiErrorRatio'],
  XvsApiBudgetBurnSlow: ['XvsApiErrorRatio'],
  XvsIngestStalledMajority: ['XvsIngestStalled', 'XvsDeliveryBlackhole', 'XvsEgressDropped'],
  XvsTasksDropped: ['XvsUsersDropped', 'XvsEgressDropped', 'XvsServerImbalance', 'XvsOutputsUnwatched'],
  XvsTaskFlapping: ['XvsTaskChurnHigh'],
};

/** The labels of an alert as Prometheus sends it; those of the exporter are held to none. */
function labelsOf(alertname: string, more: Labels): Labels {
  const { labels = {} } = alerts.find(({ alert }) => alert === alertname) ?? {};
  return { alertname, ...labels, ...(labels['layer'] === 'exporter' ? {} : { service_code: 'A' }), ...more };
}

/** The alerts of one installation that are silent. */
function silentOf(held: readonly HeldAlert[], namespace: string): readonly string[] {
  return held
    .filter(({ labels, status }) => labels['namespace'] === namespace && status.inhibitedBy.length > 0)
    .map(({ labels }) => labels['alertname'] ?? '')
    .toSorted();
}

// Every pair is an installation of its own, told apart by its namespace: one Alertmanager does for all.
test('a firing alert silences what follows from it, and nothing else', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  await using alertmanager = await Alertmanager.running(parse(deployedText('alertmanager/alertmanager.yml')));
  const pairs = alerts.flatMap(({ alert: source }) =>
    alerts.filter(({ alert }) => alert !== source).map(({ alert: target }) => ({ source, target })),
  );
  await alertmanager.fire(
    pairs.flatMap(({ source, target }) =>
      [source, target].map((name) => labelsOf(name, { namespace: `${source}/${target}` })),
    ),
  );
  const held = await until(
    () => alertmanager.alerts(),
    (all) => all.length === 2 * pairs.length && all.every(({ status }) => status.state !== 'unprocessed'),
  );
  for (const { source, target } of pairs) {
    const expected = [
      ...(silenced[source]?.includes(target) === true ? [target] : []),
      ...(silenced[target]?.includes(source) === true ? [source] : []),
    ];
    assert.deepEqual(silentOf(held, `${source}/${target}`), expected.toSorted(), `${source} and ${target}`);
  }
});

test('what fails of one service code silences nothing of another', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  await using alertmanager = await Alertmanager.running(parse(deployedText('alertmanager/alertmanager.yml')));
  await alertmanager.fire([
    labelsOf('XvsApiDown', { service_code: 'A' }),
    labelsOf('XvsIngestStalled', { service_code: 'A', vs_id: 's1' }),
    labelsOf('XvsIngestStalled', { service_code: 'B', vs_id: 's1' }),
    { alertname: 'DiskFull', severity: 'critical', service_code: 'A' },
  ]);
  const held = await until(
    () => alertmanager.alerts(),
    (all) => all.length === 4 && all.every(({ status }) => status.state !== 'unprocessed'),
  );
  const silent = held.filter(({ status }) => status.state === 'suppressed').map(({ labels }) => labels);
  assert.deepEqual(silent, [labelsOf('XvsIngestStalled', { service_code: 'A', vs_id: 's1' })]);
});

test('static labels are in the way of no silence, also where they were changed in between', async (t) => {
  if (!isInstalled(t, ALERTMANAGER)) return;
  await using alertmanager = await Alertmanager.running(parse(deployedText('alertmanager/alertmanager.yml')));
  const stalled = labelsOf('XvsIngestStalled', { vs_id: 's1', tenant: 'acme' });
  await alertmanager.fire([
    labelsOf('XvsApiDown', { tenant: 'acme' }),
    stalled,
    { ...stalled, tenant: 'globex' },
    { ...stalled, service_code: 'B' },
  ]);
  const held = await until(
    () => alertmanager.alerts(),
    (all) => all.length === 4 && all.every(({ status }) => status.state !== 'unprocessed'),
  );
  const silent = held
    .filter(({ status }) => status.state === 'suppressed')
    .map(({ labels }) => labels['tenant'] ?? '');
  assert.deepEqual(silent.toSorted(), ['acme', 'globex']);
});

test('every alert that alertmanager.yml names exists', () => {
  const { inhibit_rules: rules } = z
    .object({
      inhibit_rules: z.array(
        z.object({ source_matchers: z.array(z.string()), target_matchers: z.array(z.string()) }),
      ),
    })
    .parse(parse(deployedText('alertmanager/alertmanager.yml')));
  const matchers = rules.flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers]);
  const names = new Set(matchers.flatMap((matcher) => matcher.match(/Xvs\w+/g) ?? []));
  const existing = new Set(alerts.map(({ alert }) => alert));
  assert.deepEqual(
    [...names].filter((name) => name !== 'Xvs' && !existing.has(name)),
    [],
  );
});
