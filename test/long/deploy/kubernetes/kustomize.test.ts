import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { ConfigMap } from 'kubernetes-models/v1';
import { selectShard } from '../../../../src/sharding/shard.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { repositoryPath, readRepositoryFile } from '../../../support/repository.ts';
import {
  validateManifest,
  filterByKind,
  getSingle,
  kustomize,
  type Manifest,
} from '../../../integration/deploy/kubernetes/manifests.ts';
import { assertPodWorks } from '../../../integration/deploy/kubernetes/running-pod.ts';
import { assertConnected, getPod } from '../../../integration/deploy/kubernetes/workload-checks.ts';

const FOLDER = 'deploy/kubernetes';

/** Renders an overlay in a folder of the repository, because kustomize takes relative paths only. */
function renderOverlay(kustomization: string, config: string = ''): readonly Manifest[] {
  mkdirSync(repositoryPath('build'), { recursive: true });
  const folder = mkdtempSync(repositoryPath('build', 'overlay-'));
  try {
    writeFileSync(join(folder, 'kustomization.yaml'), kustomization);
    writeFileSync(join(folder, 'config.yml'), config);
    return kustomize(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the component for network policies selects the pods of the base', (t) => {
  if (!isInstalled(t, 'kubectl')) return;
  const manifests = renderOverlay(
    JSON.stringify({
      resources: [`../../${FOLDER}/base`],
      components: [`../../${FOLDER}/components/network-policy`],
    }),
  );
  assertConnected(manifests);
  assert.deepEqual(manifests.flatMap(validateManifest), []);
  assert.equal(filterByKind(manifests, NetworkPolicy.is).length, 1);
});

test('a shard runs with the settings of its pod, and keeps its state in its volume', async (t) => {
  if (!isInstalled(t, 'kubectl')) return;
  const manifests = kustomize(repositoryPath(FOLDER, 'overlays/shards'));
  const set = getSingle(manifests, StatefulSet.is);
  const count = getPod(set).container.env?.find(({ name }) => name === 'XVS_SHARD_COUNT')?.value;
  assert.equal(String(set.spec?.replicas), count);
  // A pod derives its shard index from its host name; this machine has another one.
  const index = selectShard('TESTING', set.spec?.replicas ?? 0);
  await assertPodWorks(manifests, '/metrics', { env: { XVS_SHARD_INDEX: String(index) } });
});

test('the overlay of the README replaces namespace, configuration and image', (t) => {
  if (!isInstalled(t, 'kubectl')) return;
  const example = /```yaml\n(.*?)```/s.exec(readRepositoryFile(FOLDER, 'README.md'))?.[1] ?? '';
  const manifests = renderOverlay(
    example.replace('../xvs-exporter/deploy/', '../../deploy/'),
    'mine: true\n',
  );
  assertConnected(manifests);
  assert.deepEqual([...new Set(manifests.map(({ metadata }) => metadata.namespace))], ['live']);
  assert.deepEqual(getSingle(manifests, ConfigMap.is).data, { 'config.yml': 'mine: true\n' });
  const { container } = getPod(getSingle(manifests, StatefulSet.is));
  const { version } = JSON.parse(readRepositoryFile('package.json'));
  assert.equal(container.image, `registry.example.org/video/xvs-exporter:${version}`);
});
