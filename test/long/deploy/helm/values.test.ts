import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { parse } from 'yaml';
import { z } from 'zod';
import { readAlertRules } from '../../../support/deploy-files.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { readRepositoryFile } from '../../../support/repository.ts';
import {
  validateManifest,
  filterByKind,
  getSingle,
} from '../../../integration/deploy/kubernetes/manifests.ts';
import { runHelm, renderChart, type Values } from '../../../integration/deploy/helm/chart.ts';

const CHART = 'deploy/helm/xvs-exporter';

/** Pairs of lines: chart values, and a pattern that the manifests as JSON match only with these values. */
const VALUE_CASES = readFixture('helm/values.txt')
  .toString()
  .matchAll(/^(.*)\n {2}(.*)\n/gm);

test('each value changes the expected manifest and keeps all valid', async (t) => {
  if (!isInstalled(t, 'helm')) return;
  const untouched = JSON.stringify(renderChart());
  const reached = new Set<string>(['serviceAccount.create', 'prometheusRule.alerts']);
  for (const [, json = '', source = ''] of VALUE_CASES) {
    const values = JSON.parse(json) as Values;
    const pattern = new RegExp(source);
    const paths = listValuePaths(values);
    for (const path of paths) reached.add(path);
    await t.test(paths.join(', '), () => {
      assert.doesNotMatch(untouched, pattern);
      const manifests = renderChart(values);
      assert.match(JSON.stringify(manifests), pattern);
      assert.deepEqual(manifests.flatMap(validateManifest), []);
    });
  }
  await t.test('every value of values.yaml has a case', () => {
    const all = listValuePaths(
      z.record(z.string(), z.unknown()).parse(parse(readRepositoryFile(CHART, 'values.yaml'))),
    );
    assert.deepEqual(
      all.filter((path) => !reached.has(path)),
      [],
    );
  });
});

/** Every installation needs them. */
const REQUIRED = ['config', 'image.repository', 'service.port'];

test('each value but the required ones may be null', async (t) => {
  if (!isInstalled(t, 'helm')) return;
  const values = z.record(z.string(), z.unknown()).parse(parse(readRepositoryFile(CHART, 'values.yaml')));
  const on = { enabled: true };
  for (const path of listValuePaths(values).filter((each) => !REQUIRED.includes(each))) {
    const [group = '', ...inner] = path.split('.');
    await t.test(path, () => {
      const switches: Record<string, Record<string, unknown>> = { prometheusRule: on, dashboards: on };
      const changed = inner.length === 0 ? null : { ...switches[group], [inner.join('.')]: null };
      assert.doesNotMatch(JSON.stringify(renderChart({ ...switches, [group]: changed })), /<nil>|%!/);
    });
  }
});

test('prometheusRule.alerts disables alerts and changes their severity and duration', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const alerts = {
    XvsTaskFlapping: { disabled: true },
    XvsTasksDropped: { severity: 'critical', for: '5m' },
  };
  const manifests = renderChart({ prometheusRule: { enabled: true, alerts } });
  assert.deepEqual(manifests.flatMap(validateManifest), []);
  const rules = filterByKind(manifests, PrometheusRule.is).flatMap(({ spec }) =>
    (spec?.groups ?? []).flatMap((group) => group.rules ?? []),
  );
  const dropped = rules.find(({ alert }) => alert === 'XvsTasksDropped');
  assert.deepEqual([dropped?.for, dropped?.labels], ['5m', { layer: 'data', severity: 'critical' }]);
  const rendered = rules.flatMap(({ alert }) => alert ?? []).toSorted();
  const shipped = readAlertRules().map(({ alert }) => alert);
  assert.deepEqual(rendered, shipped.filter((alert) => alert !== 'XvsTaskFlapping').toSorted());
});

test('invalid values are rejected with their path', async (t) => {
  if (!isInstalled(t, 'helm')) return;
  const table: [Values, string][] = [
    [{ config: { secret: 'abc' } }, "at '/config/secret': false schema"],
    [
      { networkPolicy: { enabled: true }, config: { upstream: null } },
      'networkPolicy.egress: expected a rule, because config has no base_url, found none',
    ],
    [
      { prometheusRule: { enabled: true, alerts: { XvsNothing: { disabled: true } } } },
      'prometheusRule.alerts: expected a name of rules/alerts.yml, found "XvsNothing"',
    ],
    [
      { config: { web: { listen_address: '127.0.0.1:9000' } } },
      'config.web.listen_address: expected :PORT, because Kubernetes connects to the address of the pod',
    ],
    [
      { extraEnv: [{ name: 'NODE_OPTIONS', value: '' }] },
      'extraEnv: expected no NODE_OPTIONS, because nodeOptions sets it, found one',
    ],
    [
      {
        extraEnv: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      },
      'extraEnv: expected each name once, found A, A',
    ],
    [
      { extraEnv: [{ name: 'STATE_DIRECTORY', value: '/other' }] },
      'extraEnv: expected no STATE_DIRECTORY, because the chart sets it, found one',
    ],
    [
      { extraVolumes: [{ name: 'state', emptyDir: {} }] },
      'extraVolumes: expected no state, because the chart has a volume of that name, found one',
    ],
    [
      { extraVolumeMounts: [{ name: 'own', mountPath: '/var/lib/xvs-exporter/' }] },
      'extraVolumeMounts: expected no /var/lib/xvs-exporter/, because the chart mounts a volume there, found one',
    ],
  ];
  for (const [values, message] of table) {
    await t.test(JSON.stringify(values), () => {
      const { status, stderr } = runHelm(['template', 'x'], values);
      assert.notEqual(status, 0);
      assert.ok(stderr.includes(message), stderr);
    });
  }
});

/** Base URLs of a configuration, and the ports that the network policy must allow. */
const PORTS: readonly (readonly [config: Values, ports: readonly number[]])[] = [
  [{ upstream: { base_url: 'https://live.example.com' } }, [443]],
  [{ upstream: { base_url: 'http://live.example.com/api' } }, [80]],
  [{ upstream: { base_url: 'https://live.example.com:8443/api' } }, [8443]],
  [{ upstream: { base_url: 'http://[2001:db8::1]' } }, [80]],
  [{ upstream: { base_url: 'http://[2001:db8::1]:8080' } }, [8080]],
  [
    {
      upstream: { base_url: 'https://live.example.com' },
      service_codes: [
        'A',
        { service_code: 'B', base_url: 'https://b.example.com:9443' },
        { service_code: 'C', base_url: 'https://c.example.com' },
      ],
    },
    [443, 9443],
  ],
];

test('the network policy opens the ports of the configured base URLs', async (t) => {
  if (!isInstalled(t, 'helm')) return;
  for (const [config, ports] of PORTS) {
    await t.test(JSON.stringify(config), () => {
      const manifests = renderChart({ networkPolicy: { enabled: true }, config });
      const [, polls] = getSingle(manifests, NetworkPolicy.is).spec?.egress ?? [];
      assert.deepEqual(
        (polls?.ports ?? []).map(({ port }) => port),
        ports,
      );
    });
  }
});

/** Groups of values whose keys the chart defines. The keys of other groups are free. */
const GROUPS = [
  'dashboards',
  'global',
  'httpRoute',
  'image',
  'ingress',
  'networkPolicy',
  'podMonitor',
  'prometheusRule',
  'service',
  'serviceAccount',
  'serviceMonitor',
  'shards',
  'state',
];

function listValuePaths(values: Values): readonly string[] {
  return Object.entries(values).flatMap(([key, value]) =>
    GROUPS.includes(key) && typeof value === 'object' && value !== null
      ? Object.keys(value).map((inner) => `${key}.${inner}`)
      : [key],
  );
}
