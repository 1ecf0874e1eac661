import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { repositoryPath } from '../../support/repository.ts';

const COPIED = [
  '.github',
  'deploy',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'Dockerfile',
  'package.json',
  'project.json',
  'SECURITY.md',
];
const DIGEST = `@sha256:${'a'.repeat(64)}`;

function runScript(name: string, ...args: readonly string[]) {
  return spawnSync(process.execPath, [repositoryPath('scripts', name), ...args], { encoding: 'utf8' });
}

function copyProject(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'xvs-release-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const name of COPIED) cpSync(repositoryPath(name), join(root, name), { recursive: true });
  return root;
}

function rewrite(root: string, name: string, change: (text: string) => string): void {
  const path = join(root, name);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

test('a release without addresses, digests and tag is rejected with a list of what is missing', (t) => {
  const root = copyProject(t);
  rewrite(root, 'Dockerfile', (text) => text.replaceAll(/(?<=_DIGEST=).*$/gm, ''));
  rewrite(root, 'CHANGELOG.md', (text) => text.replaceAll('## [0.1.0]', '## [0.0.9]'));
  const { status, stderr } = runScript('check-release.mjs', '--tag=v9.9.9', `--root=${root}`);
  assert.equal(status, 1);
  assert.match(stderr, /^Expected the tag v0\.1\.0 \(package\.json\), found v9\.9\.9$/m);
  assert.match(stderr, /^Expected "## \[0\.1\.0\] - DATE" in CHANGELOG\.md, found none$/m);
  assert.match(
    stderr,
    /^Expected the addresses of the project in project\.json, found example\.com; set them$/m,
  );
  assert.match(
    stderr,
    /^Expected a digest of node:\S+ in ARG NODE_DIGEST, found none; run `npm run pin:images`$/m,
  );
});

test('a complete release passes, and its notes are the section of the changelog', (t) => {
  const root = copyProject(t);
  rewrite(root, 'project.json', (text) => text.replaceAll('example.com', 'forge.test'));
  assert.equal(runScript('apply-project.mjs', `--root=${root}`).status, 0);
  for (const name of ['Dockerfile', '.github/ci.Dockerfile'])
    rewrite(root, name, (text) => text.replaceAll(/(?<=_DIGEST=).*$/gm, DIGEST));
  rewrite(
    root,
    'CHANGELOG.md',
    () => '# Changelog\n\n## [0.1.0] - 2026-01-02\n\n- One.\n\n## [0.0.1] - 2025-01-02\n',
  );
  const { status, stdout, stderr } = runScript(
    'check-release.mjs',
    '--tag=v0.1.0',
    '--notes',
    `--root=${root}`,
  );
  assert.equal(status, 0, stderr);
  assert.equal(stdout, '- One.\n');
});
