import assert from 'node:assert/strict';
import type { IStatefulSet } from 'kubernetes-models/apps/v1';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service, ServiceAccount } from 'kubernetes-models/v1';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import type { Manifest } from './manifests.ts';
import { filterByKind, getSingle } from './manifests.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns the pod template of a StatefulSet, which must have one container. */
export function getPod(set: IStatefulSet) {
  const spec = set.spec?.template.spec;
  const [container, ...more] = spec?.containers ?? [];
  assert.ok(spec !== undefined && container !== undefined && more.length === 0, 'Expected one container');
  return { spec, container, labels: set.spec?.template.metadata?.labels ?? {} };
}

/**
 * Asserts that the pod follows the Pod Security Standard "restricted", has a read-only root file system,
 * writes no core dumps, and shows no hash of a secret: the exporter watches the files instead.
 */
export function assertRestricted(manifests: readonly Manifest[]): void {
  const set = getSingle(manifests, StatefulSet.is);
  const { spec, container } = getPod(set);
  assert.deepEqual(container.command?.slice(0, 4), ['prlimit', '--core=0', 'node', '--disable-sigusr1']);
  assert.deepEqual(Object.keys(set.spec?.template.metadata?.annotations ?? {}), ['checksum/config']);
  assert.match(JSON.stringify(getSingle(manifests, ConfigMap.is).data), /auto_reload: true/);
  const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext ?? {};
  assert.deepEqual(
    { runAsNonRoot, runAsUser, seccompProfile },
    { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
  );
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  const shared = Object.keys(spec).filter((key) => key.startsWith('host'));
  assert.deepEqual(shared, []);
  const kinds = new Set((spec.volumes ?? []).flatMap((volume) => Object.keys(volume)));
  assert.deepEqual([...kinds].toSorted(), ['configMap', 'emptyDir', 'name', 'secret']);
  assert.equal(spec.automountServiceAccountToken, false);
  const account = getSingle(manifests, ServiceAccount.is);
  assert.equal(account.automountServiceAccountToken, false);
  assert.equal(spec.serviceAccountName, account.metadata?.name);
}

/** Asserts that every reference between manifests, by name, label or port, has a target. */
export function assertConnected(manifests: readonly Manifest[]): void {
  const set = getSingle(manifests, StatefulSet.is);
  const { spec, container, labels } = getPod(set);
  const service = getSingle(manifests, Service.is);
  const ports = (container.ports ?? []).map(({ name }) => name);
  assertSelects(set.spec?.selector.matchLabels, labels);
  assertSelects(service.spec?.selector, labels);
  assert.equal(set.spec?.serviceName, service.metadata?.name);
  const [servicePort] = service.spec?.ports ?? [];
  assert.ok(ports.includes(String(servicePort?.targetPort)));

  const mounts = (container.volumeMounts ?? []).map(({ name }) => name);
  const claimed = (set.spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? '');
  assert.deepEqual(
    mounts.toSorted(),
    [...(spec.volumes ?? []).map(({ name }) => name), ...claimed]
      .filter((name) => mounts.includes(name))
      .toSorted(),
  );
  const configured = (spec.volumes ?? []).flatMap(({ configMap }) => configMap?.name ?? []);
  assert.deepEqual(
    configured,
    filterByKind(manifests, ConfigMap.is).map(({ metadata }) => metadata?.name),
  );

  for (const policy of filterByKind(manifests, NetworkPolicy.is)) {
    assertSelects(policy.spec?.podSelector?.matchLabels, labels);
    const open = (policy.spec?.ingress ?? [])
      .flatMap(({ ports: all }) => all ?? [])
      .map(({ port }) => String(port));
    assert.deepEqual(open, ports);
  }
  for (const budget of filterByKind(manifests, PodDisruptionBudget.is)) {
    assertSelects(budget.spec?.selector?.matchLabels, labels);
  }
  for (const { spec: monitor } of filterByKind(manifests, ServiceMonitor.is)) {
    assertSelects(monitor.selector.matchLabels, service.metadata?.labels ?? {});
    assert.deepEqual(
      monitor.endpoints.map(({ port }) => port),
      (service.spec?.ports ?? []).map(({ name }) => name),
    );
  }
}

function assertSelects(selector: Labels | undefined, labels: Labels): void {
  assert.ok(selector !== undefined && Object.keys(selector).length > 0, 'Expected a selector');
  assert.deepEqual(Object.fromEntries(Object.keys(selector).map((key) => [key, labels[key]])), selector);
}
