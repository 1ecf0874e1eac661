import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { ConfigMap, Pod } from 'kubernetes-models/v1';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { Program, startProgram } from '../../../support/program.ts';
import { startSimulatorProgram } from '../../../support/simulator-program.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';
import { SETTINGS } from '../../../../src/config/settings.ts';
import type { Manifest } from './manifests.ts';
import { filterByKind, getSingle } from './manifests.ts';
import { getPod } from './workload-checks.ts';

const SECRET = 'abc';

/** Settings of a pod that its manifests do not contain. */
export interface PodSurroundings {
  /** Environment variables that Kubernetes would set. */
  readonly env?: Readonly<Record<string, string>>;
  /** Additional keys of the Secret. */
  readonly secrets?: Readonly<Record<string, string | Buffer>>;
  /** Scheme and credentials of scrapes; by default HTTP without a password. */
  readonly scrape?: { readonly scheme: 'https'; readonly authorization: string };
}

/**
 * Runs the program with the arguments, configuration and secrets of the pod against a simulator. Asserts that
 * its probes and the pod of `helm test` succeed, and that `metricsPath` serves `xvs_up` with value 1 and an
 * open state.
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
  await using service = startSimulatorProgram(`--service-code=TESTING:${SECRET}`, '--users=20', '--tasks=5');
  using folder = new TemporaryFolder();
  const localizePaths = createPodFiles(folder.path, manifests, await service.waitForUrl(), {
    ...secrets,
    TESTING: `${SECRET}\n`,
  });
  const env = Object.fromEntries(
    (container.env ?? []).map(({ name, value = '' }) => [name, localizePaths(value)]),
  );
  const args = (container.args ?? []).map(localizePaths);
  await using exporter = startProgram([...args, '--web.listen-address=127.0.0.1:0'], { ...env, ...moreEnv });
  const port = await exporter.waitForPort();
  await exporter.waitForOutput(/Poll succeeded/);
  // The kubelet does not verify certificates either.
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
  assert.match(text, /^xvs_exporter_state_open 1$/m);
  await dispatcher.close();
}

/** Runs the command of the `helm test` pod, if there is one, with the address of the local exporter. */
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

/** Writes the mounted files of a pod, and returns a function that replaces its mount paths in a text. */
function createPodFiles(
  folder: string,
  manifests: readonly Manifest[],
  serviceUrl: string,
  secrets: NonNullable<PodSurroundings['secrets']>,
): (text: string) => string {
  const { spec, container } = getPod(getSingle(manifests, StatefulSet.is));
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
  return here;
}
