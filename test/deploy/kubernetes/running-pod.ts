import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { ConfigMap, Pod } from 'kubernetes-models/v1';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { Program, startProgram } from '../../support/program.ts';
import { SETTINGS } from '../../../src/config/settings.ts';
import type { Manifest } from './manifests.ts';
import { filterByKind, getSingle } from './manifests.ts';
import { getPod } from './workload-checks.ts';

const SECRET = 'abc';

/** What a pod's file system would hold, in a folder of the test's own. */
interface PodFiles extends Disposable {
  /** A text in which the pod's paths are those of this machine. */
  readonly localizePaths: (text: string) => string;
}

/** What a pod has beyond its manifests. */
export interface PodSurroundings {
  /** Environment variables that Kubernetes would set. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further keys of the Secret. */
  readonly secrets?: Readonly<Record<string, string | Buffer>>;
  /** How Prometheus scrapes; without TLS and password if not given. */
  readonly scrape?: { readonly scheme: 'https'; readonly authorization: string };
}

/**
 * Runs the program as the pod would: its arguments, its configuration and its secrets at the places where they are
 * mounted, against a simulator. Its probes and the pod of `helm test` have to succeed, and `metricsPath` to show the
 * service up.
 */
export async function assertPodWorks(
  manifests: readonly Manifest[],
  metricsPath: string,
  { env: moreEnv = {}, secrets = {}, scrape }: PodSurroundings = {},
): Promise<void> {
  const { container } = getPod(getSingle(manifests, StatefulSet.is));
  assert.deepEqual(
    (container.ports ?? []).map(({ containerPort }) => `:${containerPort}`),
    [SETTINGS['web.listen_address'].default],
  );
  const simulated = [
    '--listen-address=127.0.0.1:0',
    `--service-code=TESTING:${SECRET}`,
    '--users=20',
    '--tasks=5',
  ];
  await using service = startProgram(['simulate', ...simulated]);
  using files = createPodFiles(manifests, await service.waitForUrl(), { ...secrets, TESTING: `${SECRET}\n` });
  const env = Object.fromEntries(
    (container.env ?? []).map(({ name, value = '' }) => [name, files.localizePaths(value)]),
  );
  const args = (container.args ?? []).map(files.localizePaths);
  await using exporter = startProgram([...args, '--web.listen-address=127.0.0.1:0'], { ...env, ...moreEnv });
  const port = await exporter.waitForPort();
  await exporter.waitForOutput(/Poll succeeded/);
  // As of the kubelet, which does not verify certificates.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const ask = async (scheme: string, path = '', headers: Readonly<Record<string, string>> = {}) => {
    const url = `${scheme.toLowerCase()}://127.0.0.1:${port}${path}`;
    const { statusCode, body } = await request(url, { dispatcher, headers });
    return { status: statusCode, text: await body.text() };
  };
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
    const { scheme = 'HTTP', path } = probe?.httpGet ?? {};
    assert.equal((await ask(scheme, path)).status, 200, path);
  }
  await assertHelmTestSucceeds(manifests, port);
  const headers = scrape === undefined ? {} : { authorization: scrape.authorization };
  if (scrape !== undefined) assert.equal((await ask(scrape.scheme, metricsPath)).status, 401);
  const { text } = await ask(scrape?.scheme ?? 'http', metricsPath, headers);
  assert.match(text, /^xvs_up\{service_code="TESTING"\} 1$/m);
  await dispatcher.close();
}

/** Runs the command of the pod of `helm test`, if there is one, with the address of this machine. */
async function assertHelmTestSucceeds(manifests: readonly Manifest[], port: number): Promise<void> {
  for (const { spec } of filterByKind(manifests, Pod.is)) {
    const [{ command = [], env = [] } = {}] = spec?.containers ?? [];
    assert.equal(command?.[0], 'node');
    const variables = (env ?? []).map(({ name, value = '' }) => [
      name,
      value.replace(/(?<=:\/\/).*(?=\/-)/, `127.0.0.1:${port}`),
    ]);
    await using pod = new Program(
      process.execPath,
      (command ?? []).slice(1),
      z.record(z.string(), z.string()).parse(Object.fromEntries(variables)),
    );
    assert.equal(await pod.exitCode, 0, pod.stdout + pod.stderr);
    assert.match(pod.stdout, /\/-\/ready: status 200/);
  }
}

function createPodFiles(
  manifests: readonly Manifest[],
  serviceUrl: string,
  secrets: NonNullable<PodSurroundings['secrets']>,
): PodFiles {
  const { spec, container } = getPod(getSingle(manifests, StatefulSet.is));
  const folder = mkdtempSync(join(tmpdir(), 'xvs-pod-'));
  const mounts = container.volumeMounts ?? [];
  for (const { name } of mounts) mkdirSync(join(folder, name));
  const here = (text: string): string =>
    mounts.reduce((found, { name, mountPath }) => found.replaceAll(mountPath, join(folder, name)), text);
  const volume = (key: 'configMap' | 'secret'): string =>
    (spec.volumes ?? []).find((candidate) => candidate[key] !== undefined)?.name ?? '';
  const { data = {} } = getSingle(manifests, ConfigMap.is);
  for (const [name, text] of Object.entries(data ?? {})) {
    writeFileSync(
      join(folder, volume('configMap'), name),
      here(text).replace('https://live.example.com', serviceUrl),
    );
  }
  for (const [name, content] of Object.entries(secrets)) {
    writeFileSync(join(folder, volume('secret'), name), content);
  }
  return { localizePaths: here, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}
