import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import {
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { Pod } from 'kubernetes-models/v1';
import { readRules } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { parseSelectors } from '../../../support/promql.ts';
import { listRepositoryFolder, repositoryPath } from '../../../support/repository.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';
import {
  validateManifest,
  filterByKind,
  getSingle,
  kustomize,
} from '../../../integration/deploy/kubernetes/manifests.ts';
import { assertPodWorks } from '../../../integration/deploy/kubernetes/running-pod.ts';
import {
  assertConnected,
  assertRestricted,
  getPod,
} from '../../../integration/deploy/kubernetes/workload-checks.ts';
import { runHelm, renderChart, type Values } from '../../../integration/deploy/helm/chart.ts';
import { normalizeManifests } from '../../../integration/deploy/helm/normalize-manifests.ts';

const CHART = 'deploy/helm/xvs-exporter';
/** The values of overlays/shards. */
const SHARDED = {
  shards: { count: 4 },
  state: { enabled: true },
  nodeOptions: '--max-old-space-size=512 --max-semi-space-size=8',
  resources: { requests: { cpu: '300m', memory: '512Mi' }, limits: { memory: '1Gi' } },
};
const MONITORED = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } };

test('a packaged chart has the rules and dashboards that it links to', (t) => {
  if (!isInstalled(t, 'helm')) return;
  using folder = new TemporaryFolder();
  spawnSync('helm', ['package', repositoryPath(CHART), `--destination=${folder.path}`]);
  const [archive = ''] = readdirSync(folder.path);
  const { stdout } = spawnSync('tar', ['-tf', folder.at(archive)], { encoding: 'utf8' });
  for (const [name, linked] of [
    ['rules', 'deploy/prometheus/rules'],
    ['dashboards', 'deploy/grafana/dashboards'],
  ] as const) {
    const packaged = stdout.split('\n').filter((path) => path.startsWith(`xvs-exporter/${name}/`));
    assert.deepEqual(packaged.map((path) => basename(path)).toSorted(), listRepositoryFolder(linked));
  }
});

for (const [name, pattern] of [
  ['prometheusRule', 'rules/*.yml'],
  ['dashboards', 'dashboards/*.json'],
] as const)
  test(`a checkout without symbolic links fails where ${name} has nothing to render`, (t) => {
    if (!isInstalled(t, 'helm')) return;
    using folder = new TemporaryFolder();
    cpSync(repositoryPath(CHART), folder.path, { recursive: true });
    for (const link of ['rules', 'dashboards']) {
      const target = readlinkSync(repositoryPath(CHART, link));
      folder.remove(link);
      // As Git for Windows checks it out.
      writeFileSync(folder.at(link), target);
    }
    const render = (isEnabled: boolean) =>
      spawnSync('helm', ['template', 'x', folder.path, `--set=${name}.enabled=${isEnabled}`], {
        encoding: 'utf8',
      });
    assert.equal(render(false).status, 0);
    const { status, stderr } = render(true);
    assert.notEqual(status, 0);
    const message = `${name}.enabled: expected ${pattern} in the chart, found none; run git config core.symlinks true, and check out again`;
    assert.ok(stderr.includes(message), stderr);
  });

test('without a readiness probe the chart renders, its notes and its test ask by HTTP', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const { status, stdout, stderr } = runHelm(['install', 'x', '--dry-run=client'], { readinessProbe: null });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /value: http:\/\/x-xvs-exporter\.default\.svc:/);
  assert.match(stdout, /^ {2}http:\/\/localhost:/m);
  assert.doesNotMatch(stdout, /readinessProbe/);
});

test('as a dependency, the chart takes a condition and the names of global Secrets', (t) => {
  if (!isInstalled(t, 'helm')) return;
  using folder = new TemporaryFolder();
  const version = '0.1.0';
  const dependencies = [{ name: 'xvs-exporter', version, condition: 'xvs-exporter.enabled' }];
  writeFileSync(
    folder.at('Chart.yaml'),
    JSON.stringify({ apiVersion: 'v2', name: 'video', version, dependencies }),
  );
  cpSync(repositoryPath(CHART), folder.at('charts/xvs-exporter'), { recursive: true, dereference: true });
  const render = (enabled: boolean) => {
    const global = { imagePullSecrets: ['registry', { name: 'other' }] };
    return spawnSync('helm', ['template', 'x', folder.path, '--values=-'], {
      encoding: 'utf8',
      input: JSON.stringify({ global, 'xvs-exporter': { enabled } }),
    });
  };
  const { stdout, stderr } = render(true);
  assert.match(stdout, /imagePullSecrets:\n +- name: "registry"\n +- name: "other"\n/, stderr);
  assert.deepEqual([render(false).status, render(false).stdout.trim()], [0, '']);
});

test('helm lint reports nothing', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const { status, stdout } = runHelm(['lint', '--strict']);
  assert.equal(status, 0, stdout);
  assert.doesNotMatch(stdout, /\[\w+\]/);
});

for (const [folder, values] of [
  ['kubernetes/base', {}],
  ['kubernetes/overlays/monitoring', MONITORED],
  ['kubernetes/overlays/shards', { ...MONITORED, ...SHARDED }],
] as const) {
  test(`Helm renders manifests equivalent to ${folder}`, (t) => {
    if (!isInstalled(t, 'helm') || !isInstalled(t, 'kubectl')) return;
    assert.deepEqual(
      normalizeManifests(renderChart(values)),
      normalizeManifests(kustomize(repositoryPath('deploy', folder))),
    );
  });
}

test('Helm and Kustomize render the same ConfigMaps of dashboards', (t) => {
  if (!isInstalled(t, 'helm') || !isInstalled(t, 'kubectl')) return;
  const rendered = renderChart({ dashboards: { enabled: true } }).filter(
    ({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1',
  );
  assert.deepEqual(
    normalizeManifests(rendered),
    normalizeManifests(kustomize(repositoryPath('deploy/grafana'))),
  );
});

test('the default values render valid, connected and restricted manifests', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const manifests = renderChart({ ...MONITORED, secrets: { TESTING: 'abc' } }, 'another');
  assert.deepEqual(manifests.flatMap(validateManifest), []);
  assertRestricted(manifests);
  assertConnected(manifests);
});

for (const [what, release, values] of [
  ['a release with a name of 53 characters', 'r'.repeat(53), {}],
  ['a long chart name', 'r'.repeat(50), { nameOverride: 'n'.repeat(63) }],
  ['a cut at a hyphen', `${'r'.repeat(51)}-x`, {}],
  ['a release with dots in its name', 'live.eu', {}],
  ['a release that begins with a digit', `2026-${'r'.repeat(48)}`, {}],
  ['a release of digits', '2026', {}],
] as const) {
  test(`names have room for what Kubernetes adds: ${what}`, (t) => {
    if (!isInstalled(t, 'helm')) return;
    const manifests = renderChart({ ...values, state: { enabled: true }, shards: { count: 1000 } }, release);
    assertConnected(manifests);
    const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
    const set = getSingle(manifests, StatefulSet.is).metadata?.name ?? '';
    // Kubernetes up to 1.33 wants a letter first in the name of a Service.
    assert.match(set, /^[a-z]/);
    // The label controller-revision-hash, and the longest name of a pod.
    assert.match(`${set}-0123456789`, label);
    assert.match(`${set}-999`, label);
    for (const { kind, metadata } of manifests) {
      assert.match(metadata.name, label, kind);
      for (const value of Object.values(metadata.labels ?? {})) assert.match(value, /^[\w.-]{1,63}$/);
    }
  });
}

test('each label and annotation is there once, and the most specific value wins', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const labels = (team: string) => ({ team, 'app.kubernetes.io/name': team });
  const values = {
    commonLabels: labels('common'),
    podLabels: labels('pod'),
    podAnnotations: { 'checksum/config': 'none' },
    service: { labels: labels('service') },
    ingress: { enabled: true, labels: labels('ingress') },
    serviceMonitor: { enabled: true, additionalLabels: labels('monitor') },
    prometheusRule: { enabled: true, additionalLabels: labels('rules') },
    dashboards: { enabled: true, label: 'team' },
  };
  // The parser rejects a key that is there twice.
  const manifests = renderChart(values);
  assert.deepEqual(
    Object.fromEntries(manifests.map(({ kind, metadata }) => [kind, metadata.labels?.['team']])),
    {
      ConfigMap: '1',
      Ingress: 'ingress',
      Pod: 'common',
      PrometheusRule: 'rules',
      Service: 'service',
      ServiceAccount: 'common',
      ServiceMonitor: 'monitor',
      StatefulSet: 'common',
    },
  );
  const pod = getPod(getSingle(manifests, StatefulSet.is)).labels;
  assert.deepEqual([pod['team'], pod['app.kubernetes.io/name']], ['pod', 'xvs-exporter']);
});

test('the pod of helm test runs where the exporter may run', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const scheduling = {
    priorityClassName: 'high',
    nodeSelector: { pool: 'monitoring' },
    tolerations: [{ key: 'monitoring', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
  };
  const manifests = renderChart(scheduling);
  const { spec, container } = getPod(getSingle(manifests, StatefulSet.is));
  const testPod = getSingle(manifests, Pod.is).spec;
  for (const pod of [spec, testPod]) assert.deepEqual({ ...pod, ...scheduling }, pod);
  assert.deepEqual(testPod?.containers[0]?.resources, container.resources);
});

test('the job and the addresses of the rules are those of the values', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const prometheusRule = {
    enabled: true,
    job: 'live-video',
    runbookUrl: 'https://wiki.example.org/alerts',
    dashboardUrl: 'https://grafana.example.org/',
    exporterUrl: 'https://exporter.example.org/xvs/',
  };
  const manifests = renderChart({ serviceMonitor: { enabled: true }, prometheusRule });
  assert.deepEqual(manifests.flatMap(validateManifest), []);
  const [endpoint] = getSingle(manifests, ServiceMonitor.is).spec.endpoints;
  assert.deepEqual(endpoint?.relabelings, [{ targetLabel: 'job', replacement: 'live-video' }]);
  const rules = filterByKind(manifests, PrometheusRule.is)
    .map(({ spec }) => JSON.stringify(spec))
    .join('\n');
  assert.doesNotMatch(rules, /job(=\\"| )xvs-exporter|example\.com/);
  assert.match(rules, /up\{namespace=\\"live\\", job=\\"live-video\\"/);
  assert.match(rules, /"https:\/\/exporter\.example\.org\/xvs\/service-codes\/\?service_code=/);
});

/** Renders the selectors of all rules, with their labels. */
function renderSelectors(values: Values) {
  const rules = filterByKind(renderChart(values), PrometheusRule.is).flatMap(({ spec }) =>
    (spec?.groups ?? []).flatMap((group) => group.rules ?? []),
  );
  return rules.flatMap(({ expr }) => parseSelectors(String(expr)));
}

test('with a monitor, which gives series its namespace, each selector of the rules has that of the release', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const shipped = readRules().flatMap(({ expr }) => parseSelectors(expr));
  for (const monitor of ['serviceMonitor', 'podMonitor']) {
    const selectors = renderSelectors({ prometheusRule: { enabled: true }, [monitor]: { enabled: true } });
    assert.deepEqual(
      selectors,
      shipped.map(({ metric, labels }) => ({ metric, labels: ['namespace', ...labels] })),
    );
  }
  assert.deepEqual(renderSelectors({ prometheusRule: { enabled: true } }), shipped);
});

test('the program runs with the settings of the pod, and the path of the ServiceMonitor serves metrics', async (t) => {
  if (!isInstalled(t, 'helm')) return;
  const values = {
    ...MONITORED,
    config: { web: { telemetry_path: '/other-metrics' } },
    extraArgs: ['--metrics.per-task'],
    extraEnv: [{ name: 'XVS_POLL_INTERVAL', value: '1s' }],
  };
  const manifests = renderChart(values);
  const [endpoint] = getSingle(manifests, ServiceMonitor.is).spec.endpoints;
  assert.equal(endpoint?.path, '/other-metrics');
  await assertPodWorks(manifests, '/other-metrics');
});
