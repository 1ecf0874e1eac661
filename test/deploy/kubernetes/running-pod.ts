import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { ConfigMap } from 'kubernetes-models/v1';
import { startProgram } from '../../support/program.ts';
import { SETTINGS } from '../../../src/config/settings.ts';
import type { Manifest } from './manifests.ts';
import { getSingle } from './manifests.ts';
import { getPod } from './workload-checks.ts';

const SECRET = 'abc';

/** What a pod's file system would hold, in a folder of the test's own. */
interface PodFiles extends Disposable {
  /** A text in which the pod's paths are those of this machine. */
  readonly localizePaths: (text: string) => string;
}

/**
 * Runs the program as the pod would: its arguments, its configuration and its secrets at the places where they are
 * mounted, against a simulator, with what Kubernetes tells it besides. Its probes have to succeed, and `metricsPath` to show the service up.
 */
export async function assertPodWorks(
  manifests: readonly Manifest[],
  metricsPath: string,
  moreEnv: Readonly<Record<string, string>> = {},
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
  using files = createPodFiles(manifests, await service.waitForUrl());
  const env = Object.fromEntries(
    (container.env ?? []).map(({ name, value = '' }) => [name, files.localizePaths(value)]),
  );
  const args = (container.args ?? []).map(files.localizePaths);
  await using exporter = startProgram([...args, '--web.listen-address=127.0.0.1:0'], { ...env, ...moreEnv });
  const port = await exporter.waitForPort();
  await exporter.waitForOutput(/Poll succeeded/);
  const ask = (path = ''): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
  for (const probe of [container.livenessProbe, container.readinessProbe]) {
    const { status } = await ask(probe?.httpGet?.path);
    assert.equal(status, 200, probe?.httpGet?.path);
  }
  assert.match(await (await ask(metricsPath)).text(), /^xvs_up\{service_code="TESTING"\} 1$/m);
}

function createPodFiles(manifests: readonly Manifest[], serviceUrl: string): PodFiles {
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
  writeFileSync(join(folder, volume('secret'), 'TESTING'), `${SECRET}\n`);
  return { localizePaths: here, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}
