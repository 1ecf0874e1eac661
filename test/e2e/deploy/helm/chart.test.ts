import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { parse } from 'yaml';
import { z } from 'zod';
import { isInstalled } from '../../../support/installed-programs.ts';
import { listRepositoryFolder, repositoryPath, readRepositoryFile } from '../../../support/repository.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';
import {
  validateManifest,
  parseManifests,
  getSingle,
  type Manifest,
} from '../../../integration/deploy/kubernetes/manifests.ts';
import { assertPodWorks } from '../../../integration/deploy/kubernetes/running-pod.ts';
import { assertConnected, assertRestricted } from '../../../integration/deploy/kubernetes/workload-checks.ts';
import { runHelm, renderChart } from '../../../integration/deploy/helm/chart.ts';
import { normalizeManifests } from '../../../integration/deploy/helm/normalize-manifests.ts';

const CHART = 'deploy/helm/xvs-exporter';
/** The values of overlays/shards. */
const SHARDED = {
  shards: { count: 4 },
  state: { enabled: true },
  nodeOptions: '--max-old-space-size=512',
  resources: { requests: { cpu: '300m', memory: '512Mi' }, limits: { memory: '1Gi' } },
};
function kustomize(folder: string): readonly Manifest[] {
  const args = ['kustomize', repositoryPath('deploy', folder)];
  return parseManifests(spawnSync('kubectl', args, { encoding: 'utf8' }).stdout);
}

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

test('chart, Kustomize base and package have the same version', () => {
  const version = z
    .object({ version: z.string() })
    .parse(JSON.parse(readRepositoryFile('package.json'))).version;
  const chart: unknown = parse(readRepositoryFile(CHART, 'Chart.yaml'));
  assert.equal(z.object({ appVersion: z.string() }).parse(chart).appVersion, version);
  assert.match(
    readRepositoryFile('deploy/kubernetes/base/kustomization.yaml'),
    new RegExp(`newTag: ${version}\n`),
  );
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
    assert.deepEqual(normalizeManifests(renderChart(values)), normalizeManifests(kustomize(folder)));
  });
}

test('Helm and Kustomize render the same ConfigMaps of dashboards', (t) => {
  if (!isInstalled(t, 'helm') || !isInstalled(t, 'kubectl')) return;
  const rendered = renderChart({ dashboards: { enabled: true } }).filter(
    ({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1',
  );
  assert.deepEqual(normalizeManifests(rendered), normalizeManifests(kustomize('grafana')));
});

test('the default values render valid, connected and restricted manifests', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const manifests = renderChart(MONITORED, 'another');
  assert.deepEqual(manifests.flatMap(validateManifest), []);
  assertRestricted(manifests);
  assertConnected(manifests);
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

test('the notes list the remaining steps', (t) => {
  if (!isInstalled(t, 'helm')) return;
  const notes = (values: object): string =>
    runHelm(['install', 'x', '--dry-run=client'], { ...values }).stdout;
  const untouched = notes({});
  assert.match(untouched, /create secret generic x-xvs-exporter --from-file=TESTING=/);
  assert.match(untouched, /image\.registry is a placeholder/);
  assert.match(untouched, /Set serviceMonitor\.enabled/);
  const done = notes({
    existingSecret: 'mine',
    image: { registry: 'registry.example.org' },
    serviceMonitor: { enabled: true },
  });
  assert.match(done, /port-forward statefulset\/x-xvs-exporter 20928/);
  assert.doesNotMatch(done, /create secret|placeholder|serviceMonitor/);
});
