import {
  PodMonitor,
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { ScrapeConfig } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1alpha1/ScrapeConfig';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Pod, Secret, Service, ServiceAccount } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

const MODELS = [
  ConfigMap,
  Ingress,
  NetworkPolicy,
  Pod,
  PodDisruptionBudget,
  PodMonitor,
  PrometheusRule,
  ScrapeConfig,
  Secret,
  Service,
  ServiceAccount,
  ServiceMonitor,
  StatefulSet,
] as const;

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
});

/** An object for Kubernetes, of whatever kind. */
export type Manifest = z.infer<typeof manifestSchema>;

/** Reads a stream of manifests as Kubernetes does: in YAML 1.1, where `on` is true and 0440 is octal. */
export function parseManifests(text: string): readonly Manifest[] {
  const documents = parseAllDocuments(text, { version: '1.1' });
  if ('empty' in documents) return [];
  for (const { errors, warnings } of documents) {
    const [mistake] = [...errors, ...warnings];
    if (mistake !== undefined) throw mistake;
  }
  const values = documents.map((document): unknown => document.toJS());
  // An object that a template left out leaves an empty document.
  return values.filter((value) => value !== null).map((value) => manifestSchema.parse(value));
}

/** The manifests of one kind, typed: `ofKind(manifests, StatefulSet.is)`. */
export function filterByKind<T>(
  manifests: readonly Manifest[],
  is: (value: unknown) => value is T,
): readonly T[] {
  return manifests.flatMap((manifest: unknown) => (is(manifest) ? [manifest] : []));
}

/** The one manifest of a kind. */
export function getSingle<T>(manifests: readonly Manifest[], is: (value: unknown) => value is T): T {
  const [first, ...more] = filterByKind(manifests, is);
  if (first === undefined || more.length > 0) {
    throw new Error(`Expected one such manifest, found ${manifests.map(({ kind }) => kind).join(', ')}`);
  }
  return first;
}

/** What breaks the schema of a manifest's kind, and the keys that are not in it. */
export function validateManifest(manifest: Manifest): readonly string[] {
  const model = MODELS.find(({ is }) => is(manifest));
  const name = `${manifest.kind} ${manifest.metadata.name}`;
  if (model === undefined) return [`${name}: of no known kind`];
  const watched = new KeyReadTracker();
  try {
    model.prototype.validate.call(watched.track(manifest, name));
  } catch (error) {
    return [`${name}: ${error instanceof Error ? error.message : String(error)}`];
  }
  return watched.listUnread().map((path) => `${path}: not in the schema`);
}

/**
 * The published schemas allow unknown keys, and the API server drops them silently: a misspelt key would be no
 * mistake to anyone. But their checks look at every key that they know, so what is never read is unknown.
 */
class KeyReadTracker {
  readonly #tracked: { path: string; value: object; read: Set<string> }[] = [];

  track(value: object, path: string): object {
    const read = new Set<string>();
    this.#tracked.push({ path, value, read });
    return new Proxy(value, {
      get: (target, key, receiver): unknown => {
        const found: unknown = Reflect.get(target, key, receiver);
        if (typeof key === 'string') read.add(key);
        return typeof found === 'object' && found !== null
          ? this.track(found, `${path}.${String(key)}`)
          : found;
      },
    });
  }

  /** Paths of the keys that were not read. What is read twice is watched twice: one reader is enough. */
  listUnread(): readonly string[] {
    const read = new Set(
      this.#tracked.flatMap(({ path, read: keys }) => [...keys].map((key) => `${path}.${key}`)),
    );
    const own = this.#tracked.flatMap(({ path, value }) => Object.keys(value).map((key) => `${path}.${key}`));
    return [...new Set(own)].filter((path) => !read.has(path));
  }
}
