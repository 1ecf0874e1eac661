import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { readRepositoryFile, repositoryPath } from '../../support/repository.ts';

/** The `project.json` of a project with addresses. */
const MOVED = {
  home: 'https://forge.test/video/exporter',
  repository: 'https://forge.test/video/exporter.git',
  issues: 'https://forge.test/video/exporter/issues',
  runbook: 'https://forge.test/video/exporter/runbook.md',
  icon: 'https://forge.test/video/exporter/icon.svg',
  releaseWorkflow: 'https://forge.test/video/exporter/.github/workflows/release.yml',
  releaseIssuer: 'https://issuer.forge.test',
  image: 'registry.test/video/exporter',
  maintainers: 'The video team',
  codeOwners: ['@video/exporter', '@video/platform'],
  securityContact: 'security@forge.test',
};
const CHART = 'deploy/helm/xvs-exporter';
const COPIED = [
  '.github',
  'CONTRIBUTING.md',
  'deploy',
  'Dockerfile',
  'package.json',
  'project.json',
  'SECURITY.md',
];

function applyProject(...args: readonly string[]) {
  const script = repositoryPath('scripts', 'apply-project.mjs');
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
}

test('every file has the addresses and contacts of project.json', () => {
  const { status, stdout, stderr } = applyProject('--check');
  assert.equal(status, 0, `Run \`npm run project\`.\n${stdout}${stderr}`);
});

test('a changed project.json reaches every file, and a second run changes nothing', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'xvs-project-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const name of COPIED) cpSync(repositoryPath(name), join(root, name), { recursive: true });
  writeFileSync(join(root, 'project.json'), JSON.stringify(MOVED));
  const read = (...names: readonly string[]): string => readFileSync(join(root, ...names), 'utf8');

  assert.equal(applyProject(`--root=${root}`, '--check').status, 1);
  assert.equal(applyProject(`--root=${root}`).status, 0);
  assert.equal(applyProject(`--root=${root}`, '--check').stdout, '');

  assert.ok(read(CHART, 'Chart.yaml').includes(`\nhome: ${MOVED.home}\nicon: ${MOVED.icon}\n`));
  assert.match(
    read(CHART, 'values.yaml'),
    /^ {2}registry: registry\.test$[^]*^ {2}repository: video\/exporter$/m,
  );
  assert.match(read('.github/CODEOWNERS'), /^\* @video\/exporter @video\/platform$/m);
  assert.match(read('SECURITY.md'), /^Write to security@forge\.test, not in a public issue\./m);
  for (const name of COPIED.filter((copied) => !['deploy', '.github'].includes(copied))) {
    assert.doesNotMatch(read(name), /example\.com\/xvs-exporter|@example\.com/, name);
  }
  for (const name of ['prometheus/rules/alerts.yml', 'kubernetes/overlays/monitoring/prometheusrule.yaml']) {
    const urls = read('deploy', name).match(/(?<=runbook_url: )[^#]*/g) ?? [];
    assert.deepEqual([...new Set(urls)], [MOVED.runbook], name);
  }
});

test('the chart is licensed and described as the package is', () => {
  const shape = z.looseObject({ description: z.string(), version: z.string() });
  const chart = shape.parse(parse(readRepositoryFile(CHART, 'Chart.yaml')));
  const manifest = shape.parse(JSON.parse(readRepositoryFile('package.json')));
  assert.deepEqual([chart.description, chart.version], [manifest.description, manifest.version]);
});
