import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { z } from 'zod';
import {
  getSingle,
  parseManifests,
  type Manifest,
} from '../../../integration/deploy/kubernetes/manifests.ts';
import type { Values } from '../../../integration/deploy/helm/chart.ts';
import { fixturePath } from '../../../support/fixtures.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { repositoryPath } from '../../../support/repository.ts';
import { KUBERNETES_PROGRAMS, KubernetesApiServer } from './api-server.ts';

const CHART = repositoryPath('deploy/helm/xvs-exporter');
const LABEL = 'app.kubernetes.io/name=xvs-exporter';
const MONITORED = { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } };

/** Shapes of the chart. */
const SHAPES: readonly (readonly [string, Values])[] = [
  ['plain', {}],
  ['state and secrets', { state: { enabled: true, size: '2Gi' }, secrets: { TESTING: 'abc' } }],
  ['shards', { shards: { count: 4 }, state: { enabled: true } }],
  ['ServiceMonitor and rules', MONITORED],
  [
    'PodMonitor, Ingress, network policy and dashboards',
    {
      podMonitor: { enabled: true },
      ingress: { enabled: true },
      networkPolicy: { enabled: true },
      dashboards: { enabled: true },
    },
  ],
];

const OVERLAYS = ['base', 'overlays/monitoring', 'overlays/shards'];

test('a real API server accepts chart and kustomizations', async (t) => {
  if (!KUBERNETES_PROGRAMS.every((program) => isInstalled(t, program))) return;
  await using server = await KubernetesApiServer.start();
  const crds = fixturePath('kubernetes/operator-crds.yaml');
  await server.run('kubectl', ['apply', '--filename', crds]);
  await server.run('kubectl', ['wait', '--for=condition=Established', '--filename', crds]);

  for (const [index, [name, values]] of SHAPES.entries()) {
    await t.test(`Helm installs, upgrades and uninstalls: ${name}`, async () => {
      const release = new Release(server, await createNamespace(server, `helm-${index}`));
      await release.run('install', values);
      const installed = await release.list();
      await assertPodAdmitted(server, installed);

      await release.run('upgrade', { ...values, podAnnotations: { changed: 'yes' } });
      const upgraded = await release.list();
      assert.equal(readGeneration(upgraded), readGeneration(installed) + 1);
      await assertPodAdmitted(server, upgraded);
      await release.run('upgrade', { ...values, podAnnotations: { changed: 'yes' } });
      assert.equal(readGeneration(await release.list()), readGeneration(upgraded));

      await server.run('helm', ['uninstall', 'xvs-exporter', '--namespace', release.namespace]);
      assert.deepEqual(await release.list(), []);
    });
  }

  await t.test('a release can change to shards, and to a ServiceMonitor with rules', async () => {
    const release = new Release(server, await createNamespace(server, 'helm-change'));
    await release.run('install', {});
    await release.run('upgrade', MONITORED);
    await release.run('upgrade', { ...MONITORED, shards: { count: 2 } });
    const manifests = await release.list();
    assert.equal(getSingle(manifests, StatefulSet.is).spec?.replicas, 2);
    await assertPodAdmitted(server, manifests);
  });

  await t.test('the chart says what enables the state of an installed release, and it works', () =>
    assertStateEnabled(server),
  );

  for (const [index, overlay] of OVERLAYS.entries()) {
    await t.test(`kubectl applies ${overlay} on the server's side`, async () => {
      const namespace = await createNamespace(server, `kustomize-${index}`);
      const folder = repositoryPath('deploy/kubernetes', overlay);
      const apply = ['apply', '--server-side', '--kustomize', folder, '--namespace', namespace];
      await server.run('kubectl', apply);
      const applied = await new Release(server, namespace).list();
      await assertPodAdmitted(server, applied);
      await server.run('kubectl', apply);
      assert.equal(readGeneration(await new Release(server, namespace).list()), readGeneration(applied));
    });
  }
});

/** A release of the chart in a namespace. */
class Release {
  readonly namespace: string;
  readonly #server: KubernetesApiServer;

  constructor(server: KubernetesApiServer, namespace: string) {
    this.#server = server;
    this.namespace = namespace;
  }

  async run(command: 'install' | 'upgrade', values: Values): Promise<void> {
    await this.#server.run('helm', this.#createArguments(command), JSON.stringify(values));
  }

  /** Upgrades with values that the chart rejects, and returns its message. */
  async upgradeRejected(values: Values): Promise<string> {
    const { status, stderr } = await this.#server.try(
      'helm',
      this.#createArguments('upgrade'),
      JSON.stringify(values),
    );
    assert.notEqual(status, 0);
    return stderr;
  }

  /** Lists the objects of the exporter. */
  async list(): Promise<readonly Manifest[]> {
    const kinds = [
      'configmaps,secrets,services,serviceaccounts,statefulsets,poddisruptionbudgets,networkpolicies,ingresses',
      'servicemonitors,podmonitors,prometheusrules',
    ].join(',');
    const output = await this.#server.run('kubectl', [
      'get',
      kinds,
      `--namespace=${this.namespace}`,
      `--selector=${LABEL}`,
      '--output=json',
    ]);
    const { items } = z.object({ items: z.array(z.unknown()) }).parse(JSON.parse(output));
    return items.flatMap((item) => parseManifests(JSON.stringify(item)));
  }

  #createArguments(command: string): readonly string[] {
    return [command, 'xvs-exporter', CHART, '--namespace', this.namespace, '--values=-'];
  }
}

/**
 * Creates a namespace that enforces the Pod Security Standard "restricted" and warns of workloads that
 * violate it.
 */
async function createNamespace(server: KubernetesApiServer, name: string): Promise<string> {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
  await server.run('kubectl', ['create', '--filename', '-'], JSON.stringify(namespace));
  return name;
}

/**
 * Creates the pod that a controller would create for a StatefulSet, without the volume claims, which it adds.
 */
function createPod(manifests: readonly Manifest[]) {
  const { metadata, spec } = getSingle(manifests, StatefulSet.is);
  const claims = (spec?.volumeClaimTemplates ?? []).map((claim) => claim.metadata?.name ?? '');
  const pod = spec?.template.spec;
  assert.ok(pod !== undefined);
  const volumes = [
    ...(pod.volumes ?? []),
    ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: `${name}-xvs-exporter-0` } })),
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...spec?.template.metadata, name: 'xvs-exporter-0', namespace: metadata?.namespace },
    spec: { ...pod, volumes },
  };
}

async function assertPodAdmitted(server: KubernetesApiServer, manifests: readonly Manifest[]): Promise<void> {
  const pod = JSON.stringify(createPod(manifests));
  await server.run('kubectl', ['create', '--dry-run=server', '--filename', '-'], pod);
}

function readGeneration(manifests: readonly Manifest[]): number {
  return getSingle(manifests, StatefulSet.is).metadata?.generation ?? 0;
}

async function assertStateEnabled(server: KubernetesApiServer): Promise<void> {
  const release = new Release(server, await createNamespace(server, 'helm-state'));
  await release.run('install', {});
  const enabled = { state: { enabled: true } };
  const message = await release.upgradeRejected(enabled);
  assert.match(message, /state\.enabled: expected false as installed, because Kubernetes cannot change/);
  const command = /run kubectl (?<command>[^,]+), and upgrade again/.exec(message)?.groups?.['command'];
  await server.run('kubectl', [...(command ?? '').split(' '), '--wait=false']);
  // The garbage collector, which does not run here, removes the finalizer when it has orphaned the pods.
  const patch = ['patch', 'statefulset', 'xvs-exporter', `--namespace=${release.namespace}`, '--type=merge'];
  await server.run('kubectl', [...patch, '--patch={"metadata":{"finalizers":null}}']);
  await release.run('upgrade', enabled);
  const set = getSingle(await release.list(), StatefulSet.is);
  assert.equal(set.spec?.volumeClaimTemplates?.length, 1);
  const disabled = await release.upgradeRejected({ state: { enabled: false } });
  assert.match(disabled, /state\.enabled: expected true as installed/);
}
