import { parse } from 'yaml';
import { z } from 'zod';
import type { Manifest } from '../kubernetes/manifests.ts';

const mapping = z.record(z.string(), z.unknown());

/** Keys that depend on the tool that rendered a manifest. */
const ORIGIN_KEYS = [
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/version',
  'checksum/config',
  'helm.sh/chart',
  'namespace',
];

/**
 * Maps manifests by kind and name, without keys that depend on the tool, so that two tools can be compared.
 */
export function normalizeManifests(manifests: readonly Manifest[]): ReadonlyMap<string, unknown> {
  const installed = manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined);
  const named = installed.map((manifest) => {
    const plain = mapping.parse(removeOrigin(manifest));
    const { name } = z.looseObject({ name: z.string() }).parse(plain['metadata']);
    return [`${manifest.kind} ${name}`, plain] as const;
  });
  return new Map(named.toSorted(([a], [b]) => a.localeCompare(b)));
}

function removeOrigin(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => removeOrigin(item));
  // Kustomize adds a hash of the content to the name of a ConfigMap.
  if (typeof value === 'string' && key === 'name')
    return value.replace(/^(xvs-exporter)-[a-z0-9]{10}$/, '$1');
  if (typeof value === 'string' && key === 'config.yml') return parse(value);
  // The chart writes its namespace into selectors.
  if (typeof value === 'string' && key === 'expr')
    return value.replaceAll(/\{namespace="live"\}|namespace="live", /g, '');
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(mapping.parse(value))
    .filter(([name]) => !ORIGIN_KEYS.includes(name))
    .map(([name, inner]) => [name, removeOrigin(inner, name)] as const)
    .filter(([name, inner]) => name !== 'annotations' || Object.keys(mapping.parse(inner)).length > 0);
  return Object.fromEntries(kept);
}
