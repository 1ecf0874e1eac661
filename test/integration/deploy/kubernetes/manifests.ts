import { spawnSync } from 'node:child_process';
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

/** What the chart uses of the Gateway API, which has no published models of this generation. */
const httpRouteSchema = z.strictObject({
  apiVersion: z.literal('gateway.networking.k8s.io/v1'),
  kind: z.literal('HTTPRoute'),
  metadata: z.unknown(),
  spec: z.strictObject({
    parentRefs: z.array(
      z.strictObject({
        name: z.string(),
        namespace: z.string().optional(),
        sectionName: z.string().optional(),
        port: z.number().optional(),
      }),
    ),
    hostnames: z.array(z.string()).optional(),
    rules: z.array(
      z.strictObject({
        backendRefs: z.array(z.strictObject({ name: z.string(), port: z.number() })),
        matches: z.array(z.unknown()).optional(),
        filters: z.array(z.unknown()).optional(),
      }),
    ),
  }),
});

/** A Kubernetes object of any kind. */
export type Manifest = z.infer<typeof manifestSchema>;

/** Parses a stream of manifests like Kubernetes, as YAML 1.1, where `on` is true and 0440 is octal. */
export function parseManifests(text: string): readonly Manifest[] {
  const documents = parseAllDocuments(text, { version: '1.1' });
  if ('empty' in documents) return [];
  for (const { errors, warnings } of documents) {
    const [mistake] = [...errors, ...warnings];
    if (mistake !== undefined) throw mistake;
  }
  const values = documents.map((document): unknown => document.toJS());
  // A template that renders nothing leaves an empty document.
  return values.filter((value) => value !== null).map((value) => manifestSchema.parse(value));
}

/** Returns the manifests that `kubectl apply -k` would send for a folder. */
export function kustomize(path: string): readonly Manifest[] {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', path], { encoding: 'utf8' });
  if (status !== 0 || stderr !== '') throw new Error(`Expected kubectl to succeed, found:\n${stderr}`);
  return parseManifests(stdout);
}

/** Returns the manifests of one kind, typed: `filterByKind(manifests, StatefulSet.is)`. */
export function filterByKind<T>(
  manifests: readonly Manifest[],
  is: (value: unknown) => value is T,
): readonly T[] {
  return manifests.flatMap((manifest: unknown) => (is(manifest) ? [manifest] : []));
}

/** Returns the only manifest of a kind. Throws unless there is exactly one. */
export function getSingle<T>(manifests: readonly Manifest[], is: (value: unknown) => value is T): T {
  const [first, ...more] = filterByKind(manifests, is);
  if (first === undefined || more.length > 0) {
    throw new Error(`Expected one such manifest, found ${manifests.map(({ kind }) => kind).join(', ')}`);
  }
  return first;
}

/** Returns the violations of the schema of a manifest's kind, including unknown keys. */
export function validateManifest(manifest: Manifest): readonly string[] {
  const model = MODELS.find(({ is }) => is(manifest));
  const name = `${manifest.kind} ${manifest.metadata.name}`;
  if (manifest.kind === 'HTTPRoute')
    return (
      httpRouteSchema.safeParse(manifest).error?.issues.map(({ message }) => `${name}: ${message}`) ?? []
    );
  if (model === undefined) return [`${name}: unknown kind`];
  const tracker = new KeyReadTracker();
  try {
    model.prototype.validate.call(tracker.track(manifest, name));
  } catch (error) {
    return [`${name}: ${error instanceof Error ? error.message : String(error)}`];
  }
  return tracker.listUnread().map((path) => `${path}: not in the schema`);
}

/**
 * Finds unknown keys. The published schemas allow them, and the API server drops them silently, so neither
 * reports a misspelt key. Validation reads every known key; keys that it does not read are unknown.
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

  /**
   * Lists the paths of unread keys. An object read twice has two proxies; a key counts as read if either one
   * saw it.
   */
  listUnread(): readonly string[] {
    const read = new Set(
      this.#tracked.flatMap(({ path, read: keys }) => [...keys].map((key) => `${path}.${key}`)),
    );
    const own = this.#tracked.flatMap(({ path, value }) => Object.keys(value).map((key) => `${path}.${key}`));
    return [...new Set(own)].filter((path) => !read.has(path));
  }
}
