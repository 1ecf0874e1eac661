import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { Program } from '../../support/program.ts';
import { repositoryPath } from '../../support/repository.ts';

const TYPE = 'application/vnd.docker.distribution.manifest.list.v2+json';

function formatManifest(repository: string): string {
  return JSON.stringify({ schemaVersion: 2, mediaType: TYPE, manifests: [], note: repository });
}

function digestOf(repository: string): string {
  return `sha256:${createHash('sha256').update(formatManifest(repository)).digest('hex')}`;
}

/** A container registry on the loopback interface that has every tag of `node` and `debian`. Returns its URL. */
async function startRegistry(t: TestContext, requested: string[]): Promise<string> {
  const server = createServer((request, response) => {
    const [, repository, tag] =
      /^\/v2\/library\/(node|debian)\/manifests\/(.+)$/.exec(request.url ?? '') ?? [];
    if (request.url === '/v2/') response.end('{}');
    else if (repository === undefined) response.writeHead(404).end();
    else {
      requested.push(`${repository}:${tag}`);
      response.setHeader('Content-Type', TYPE).end(formatManifest(repository));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

function copyDockerfile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'xvs-pin-'));
  t.after(() => rmSync(folder, { recursive: true }));
  copyFileSync(repositoryPath('Dockerfile'), join(folder, 'Dockerfile'));
  return join(folder, 'Dockerfile');
}

async function pin(...args: readonly string[]) {
  const script = repositoryPath('scripts', 'pin-base-images.mjs');
  await using program = new Program(process.execPath, [script, ...args], { HOME: tmpdir() });
  const status = await program.exitCode;
  return { status, stderr: program.stderr };
}

test('npm run pin:images writes the digests that the registry has for the tags', async (t) => {
  if (!isInstalled(t, 'skopeo')) return;
  const requested: string[] = [];
  const mirror = await startRegistry(t, requested);
  const file = copyDockerfile(t);
  const { status, stderr } = await pin(`--file=${file}`, `--mirror=${mirror}`);
  assert.equal(status, 0, stderr);
  const pinned = readFileSync(file, 'utf8');
  assert.ok(pinned.includes(`\nARG NODE_DIGEST=@${digestOf('node')}\n`), pinned);
  assert.ok(pinned.includes(`\nARG DEBIAN_DIGEST=@${digestOf('debian')}\n`), pinned);
  assert.match(requested.join(' '), /^node:\d+\.\d+\.\d+-[a-z]+-slim debian:[a-z]+-slim$/);
  assert.equal((await pin(`--file=${file}`, '--check')).status, 0);
  // Renewing replaces the digests.
  assert.equal((await pin(`--file=${file}`, `--mirror=${mirror}`)).status, 0);
  assert.equal(readFileSync(file, 'utf8'), pinned);
});

test('a registry without the tag is named, and the Dockerfile stays as it is', async (t) => {
  if (!isInstalled(t, 'skopeo')) return;
  const mirror = await startRegistry(t, []);
  const file = copyDockerfile(t);
  const { status, stderr } = await pin(
    `--file=${file}`,
    `--mirror=${mirror}/`.replace('127.0.0.1', 'localhost.invalid'),
  );
  assert.equal(status, 1);
  assert.match(stderr, /Expected skopeo to find node:\S+-slim, found: /);
  assert.equal(readFileSync(file, 'utf8'), readFileSync(repositoryPath('Dockerfile'), 'utf8'));
});
