import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { ConfigMap } from 'kubernetes-models/v1';
import { parse } from 'yaml';
import {
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { selectShard } from '../../../../src/sharding/rendezvous.ts';
import { assertGolden } from '../../../support/fixtures.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { listRepositoryFolder, repositoryPath, readRepositoryFile } from '../../../support/repository.ts';
import {
  validateManifest,
  filterByKind,
  parseManifests,
  getSingle,
  type Manifest,
} from '../../../integration/deploy/kubernetes/manifests.ts';
import {
  formatPrometheusRules,
  readRuleFiles,
} from '../../../integration/deploy/kubernetes/prometheus-rules.ts';
import { assertPodWorks } from '../../../integration/deploy/kubernetes/running-pod.ts';
import {
  assertConnected,
  assertRestricted,
  getPod,
} from '../../../integration/deploy/kubernetes/workload-checks.ts';

const FOLDER = 'deploy/kubernetes';
const MONITORING = 'overlays/monitoring';
const SHARDS = 'overlays/shards';

/** Returns the manifests that `kubectl apply -k` would send; `undefined` if kubectl is not installed. */
function kustomizeFolder(t: TestContext, folder: string): readonly Manifest[] | undefined {
  return isInstalled(t, 'kubectl') ? kustomize(repositoryPath(FOLDER, folder)) : undefined;
}

function kustomize(path: string): readonly Manifest[] {
  const args = ['kustomize', path];
  const { status, stdout, stderr } = spawnSync('kubectl', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return parseManifests(stdout);
}

test('the overlay has the rules of deploy/prometheus/rules', () => {
  assertGolden(`../../${FOLDER}/${MONITORING}/prometheusrule.yaml`, formatPrometheusRules());
  const text = readRepositoryFile(FOLDER, MONITORING, 'prometheusrule.yaml');
  assert.deepEqual(
    filterByKind(parseManifests(text), PrometheusRule.is).map(({ spec }) => spec),
    [...readRuleFiles().values()].map((rules): unknown => parse(rules)),
  );
});

test('every file of base and overlay follows the schemas of Kubernetes', () => {
  const files = ['base', MONITORING, 'components/network-policy', 'components/shards'].flatMap((folder) =>
    listRepositoryFolder(FOLDER, folder)
      .filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
      .map((name) => readRepositoryFile(FOLDER, folder, name)),
  );
  assert.ok(files.length > 5);
  assert.deepEqual(files.flatMap(parseManifests).flatMap(validateManifest), []);
});

for (const folder of ['base', MONITORING, SHARDS]) {
  test(`Kustomize renders ${folder} to valid, connected and restricted manifests`, (t) => {
    const manifests = kustomizeFolder(t, folder);
    if (manifests === undefined) return;
    assert.deepEqual(manifests.flatMap(validateManifest), []);
    assertRestricted(manifests);
    assertConnected(manifests);
    const unlabelled = manifests.filter(
      ({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] !== 'xvs-exporter',
    );
    assert.deepEqual(unlabelled, []);
  });
}

test('the program runs with the settings of the pod, and the path of the ServiceMonitor serves metrics', async (t) => {
  const manifests = kustomizeFolder(t, MONITORING);
  if (manifests === undefined) return;
  const [endpoint] = getSingle(manifests, ServiceMonitor.is).spec.endpoints;
  await assertPodWorks(manifests, endpoint?.path ?? '');
});

test('the component for network policies selects the pods of the base', (t) => {
  if (!isInstalled(t, 'kubectl')) return;
  // In the repository, because kustomize takes relative paths only.
  const folder = mkdtempSync(repositoryPath('build', 'overlay-'));
  try {
    const overlay = {
      resources: [`../../${FOLDER}/base`],
      components: [`../../${FOLDER}/components/network-policy`],
    };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(overlay));
    const manifests = kustomize(folder);
    assertConnected(manifests);
    assert.equal(filterByKind(manifests, NetworkPolicy.is).length, 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the shard count equals the number of pods, whose ordinals start at 0', (t) => {
  const manifests = kustomizeFolder(t, SHARDS);
  if (manifests === undefined) return;
  const set = getSingle(manifests, StatefulSet.is);
  const { spec } = set;
  const { container } = getPod(set);
  const count = (container.env ?? []).find(({ name }) => name === 'XVS_SHARD_COUNT')?.value;
  assert.deepEqual([String(spec?.replicas), spec?.ordinals?.start ?? 0], [count, 0]);
  assert.equal(spec?.podManagementPolicy, 'Parallel');
});

test('a shard runs with the settings of its pod, and keeps its state in its volume', async (t) => {
  const manifests = kustomizeFolder(t, SHARDS);
  if (manifests === undefined) return;
  const index = selectShard('TESTING', getSingle(manifests, StatefulSet.is).spec?.replicas ?? 0);
  // A pod derives its shard index from its host name; this machine has another one.
  await assertPodWorks(manifests, '/metrics', { env: { XVS_SHARD_INDEX: String(index) } });
});

test('the name of the ConfigMap has a hash of its content, so that a change restarts the pods', (t) => {
  const manifests = kustomizeFolder(t, 'base');
  if (manifests === undefined) return;
  assert.match(getSingle(manifests, ConfigMap.is).metadata?.name ?? '', /^xvs-exporter-[a-z0-9]{10}$/);
});

test('the overlay of the README replaces namespace, configuration and image', (t) => {
  if (!isInstalled(t, 'kubectl')) return;
  const example = /```yaml\n(.*?)```/s.exec(readRepositoryFile(FOLDER, 'README.md'))?.[1] ?? '';
  // In the repository, because kustomize takes relative paths only.
  mkdirSync(repositoryPath('build'), { recursive: true });
  const folder = mkdtempSync(repositoryPath('build', 'overlay-'));
  try {
    const text = example.replace('../xvs-exporter/deploy/', '../../deploy/');
    writeFileSync(join(folder, 'kustomization.yaml'), text);
    writeFileSync(join(folder, 'config.yml'), 'mine: true\n');
    const manifests = kustomize(folder);
    assertConnected(manifests);
    assert.deepEqual([...new Set(manifests.map(({ metadata }) => metadata.namespace))], ['live']);
    assert.deepEqual(getSingle(manifests, ConfigMap.is).data, { 'config.yml': 'mine: true\n' });
    const { container } = getPod(getSingle(manifests, StatefulSet.is));
    assert.equal(container.image, 'registry.example.org/video/xvs-exporter:0.1.0');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
