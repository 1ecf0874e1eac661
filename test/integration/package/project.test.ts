import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { readRepositoryFile, repositoryPath, runScript } from '../../support/repository.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

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
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'deploy',
  'Dockerfile',
  'package.json',
  'project.json',
  'SECURITY.md',
];

const DIGEST = `@sha256:${'a'.repeat(64)}`;

function copyProject(t: TestContext): string {
  const root = new TemporaryFolder();
  t.after(() => root[Symbol.dispose]());
  for (const name of COPIED) cpSync(repositoryPath(name), root.at(name), { recursive: true });
  return root.path;
}

function rewrite(root: string, name: string, change: (text: string) => string): void {
  const path = join(root, name);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

test('every file has the addresses and contacts of project.json', () => {
  const { status, stdout, stderr } = runScript('apply-project.mjs', '--check');
  assert.equal(status, 0, `Run \`npm run project\`.\n${stdout}${stderr}`);
});

test('a changed project.json reaches every file, and a second run changes nothing', (t) => {
  const root = copyProject(t);
  writeFileSync(join(root, 'project.json'), JSON.stringify(MOVED));
  const read = (...names: readonly string[]): string => readFileSync(join(root, ...names), 'utf8');

  const apply = (...args: readonly string[]) => runScript('apply-project.mjs', `--root=${root}`, ...args);
  assert.equal(apply('--check').status, 1);
  assert.equal(apply().status, 0);
  assert.equal(apply('--check').stdout, '');

  assert.ok(read(CHART, 'Chart.yaml').includes(`\nhome: ${MOVED.home}\nicon: ${MOVED.icon}\n`));
  assert.match(
    read(CHART, 'values.yaml'),
    /^ {2}registry: registry\.test$[^]*^ {2}repository: video\/exporter$/m,
  );
  assert.match(read('.github/CODEOWNERS'), /^\* @video\/exporter @video\/platform$/m);
  assert.match(read('SECURITY.md'), /^Write to security@forge\.test, not in a public issue[.,]/m);
  for (const name of COPIED.filter((copied) => !['deploy', '.github', 'CHANGELOG.md'].includes(copied))) {
    assert.doesNotMatch(read(name), /example\.com\/xvs-exporter|@example\.com/, name);
  }
  for (const name of ['prometheus/rules/alerts.yml', 'kubernetes/overlays/monitoring/prometheusrule.yaml']) {
    const urls = read('deploy', name).match(/(?<=runbook_url: )[^#]*/g) ?? [];
    assert.deepEqual([...new Set(urls)], [MOVED.runbook], name);
  }
});

test('chart, kustomize base, Compose and package have one version and description', () => {
  const shape = z.looseObject({ description: z.string(), version: z.string() });
  const chart = shape
    .extend({ appVersion: z.string() })
    .parse(parse(readRepositoryFile(CHART, 'Chart.yaml')));
  const { description, version } = shape.parse(JSON.parse(readRepositoryFile('package.json')));
  assert.deepEqual([chart.description, chart.version, chart.appVersion], [description, version, version]);
  // Release step 1 of CONTRIBUTING.md names these files.
  for (const [file, count] of [
    ['deploy/kubernetes/base/kustomization.yaml', 1],
    ['deploy/kubernetes/README.md', 1],
    ['deploy/compose/compose.yml', 3],
    ['deploy/README.md', 2],
  ] as const) {
    const found = readRepositoryFile(file).match(
      /(?<=newTag: |VERSION[:=] ?|xvs-(?:exporter|simulator):)\d[\w.-]*/g,
    );
    assert.deepEqual(
      found,
      Array.from({ length: count }, () => version),
      file,
    );
  }
});

test('a release without addresses, digests and tag is rejected with a list of what is missing', (t) => {
  const root = copyProject(t);
  rewrite(root, 'Dockerfile', (text) => text.replaceAll(/(?<=_DIGEST=).*$/gm, ''));
  rewrite(root, 'deploy/compose/compose.yml', (text) => text.replaceAll(/@sha256:.*$/gm, ''));
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
    /^Expected a digest of node:\S+ in Dockerfile, found none; run `npm run pin:images`$/m,
  );
  for (const image of ['prom/prometheus', 'prom/alertmanager', 'grafana/grafana'])
    assert.match(
      stderr,
      new RegExp(`^Expected a digest of ${image}:\\S+ in deploy/compose/compose\\.yml, found`, 'm'),
    );
});

test('a complete release passes, and its notes are the section of the changelog', (t) => {
  const root = copyProject(t);
  rewrite(root, 'project.json', (text) => text.replaceAll('example.com', 'forge.test'));
  assert.equal(runScript('apply-project.mjs', `--root=${root}`).status, 0);
  for (const name of ['Dockerfile', '.github/ci.Dockerfile'])
    rewrite(root, name, (text) => text.replaceAll(/(?<=_DIGEST=).*$/gm, DIGEST));
  rewrite(root, 'deploy/compose/compose.yml', (text) =>
    text.replaceAll(/(?<= image: (?:prom|grafana)\/\S+?)(?:@\S+)?$/gm, DIGEST),
  );
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

test('every release job that can publish or sign waits for the protected environment', () => {
  const job = z.object({
    environment: z.string().optional(),
    permissions: z.record(z.string(), z.string()).default({}),
    steps: z.array(z.unknown()).default([]),
  });
  const workflow = z
    .object({ jobs: z.record(z.string(), job) })
    .parse(parse(readRepositoryFile('.github/workflows/release.yml')));
  const powerful = Object.entries(workflow.jobs).filter(
    ([, { permissions, steps }]) =>
      Object.values(permissions).includes('write') || JSON.stringify(steps).includes('secrets.'),
  );
  assert.deepEqual(
    powerful.map(([name, { environment }]) => [name, environment]),
    ['package', 'image', 'chart', 'notes'].map((name) => [name, 'release']),
  );
});
