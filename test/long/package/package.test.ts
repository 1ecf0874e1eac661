import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { z } from 'zod';
import { parseExposition } from '../../support/exposition-parser.ts';
import { Program, SETTINGS } from '../../support/program.ts';
import { listRepositoryFolder, readRepositoryFile, repositoryPath } from '../../support/repository.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';
import { runNpm, getOuterEnvironment, pack, type PackedPackage } from './packed-package.ts';
import { startRegistry } from './registry.ts';

const sbomSchema = z.object({
  components: z.array(z.object({ name: z.string(), version: z.string(), scope: z.string() })),
});

/** Files of the package besides the program. */
function listExpectedDocuments(): readonly string[] {
  const all = (folder: string): readonly string[] =>
    listRepositoryFolder(...folder.split('/')).map((name) => `${folder}/${name}`);
  return [
    'package.json',
    'npm-shrinkwrap.json',
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    'SECURITY.md',
    'man/xvs-exporter.1',
    ...all('config').filter((path) => path !== 'config/codes'),
    ...all('config/codes'),
    ...all('docs').filter((path) => path.endsWith('.md')),
    ...all('deploy/prometheus/rules'),
    'deploy/prometheus/runbook.md',
    'deploy/alertmanager/alertmanager.yml',
    ...all('deploy/alertmanager/templates'),
    ...all('deploy/grafana/dashboards'),
  ];
}

/** Each source file, compiled. The sources of the reader's module make one file. */
function listExpectedProgram(): readonly string[] {
  const compiled = readdirSync(repositoryPath('src'), { recursive: true, encoding: 'utf8' })
    .filter(
      (path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.startsWith('json-columns/assembly/'),
    )
    .map((path) => `dist/${path.replace(/\.ts$/, '.js')}`);
  return [...compiled, 'dist/json-columns/reader.wasm'];
}

describe('the package', () => {
  let packed: PackedPackage;
  let folder: string;

  before(() => {
    packed = pack();
    folder = join(packed.folder, 'installed');
  });
  after(() => packed[Symbol.dispose]());

  /** Runs the program as a user of the package does. */
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Program =>
    new Program(join(folder, 'bin/xvs-exporter'), args, { ...SETTINGS, ...env }, packed.folder);

  it('contains only the program and the files to set it up', () => {
    const paths = packed.files.map(({ path }) => path);
    assert.deepEqual(paths.toSorted(), [...listExpectedDocuments(), ...listExpectedProgram()].toSorted());
  });

  it('leaves no shrinkwrap behind, with which npm ci would fail, and every page as it was', () => {
    assert.equal(existsSync(join(packed.folder, 'copy/npm-shrinkwrap.json')), false);
    for (const page of ['README.md', 'docs/web.md', 'package.json'])
      assert.equal(readFileSync(join(packed.folder, 'copy', page), 'utf8'), readRepositoryFile(page));
  });

  it('has no relative link to a file that it does not have', () => {
    spawnSync('tar', ['-xzf', packed.file], { cwd: packed.folder });
    const pages = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.md'));
    const targets = pages.flatMap((page) => {
      const text = readFileSync(join(packed.folder, 'package', page), 'utf8');
      const links = text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]+)/g);
      return [...links].map(([, target = '']) => join(dirname(page), target));
    });
    assert.ok(targets.length > 50);
    assert.deepEqual(
      targets.filter((target) => !existsSync(join(packed.folder, 'package', target))),
      [],
    );
  });

  it('installs from a registry with the versions of the SBOM, though there are newer ones', async (t) => {
    const registry = await startRegistry(t, packed);
    const where = ['--global', `--prefix=${folder}`];
    const options = [
      `--registry=${registry}`,
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
    ];
    await using npm = new Program(
      'npm',
      ['install', ...where, ...options, 'xvs-exporter'],
      getMachineEnvironment(),
      packed.folder,
    );
    assert.equal(await npm.exitCode, 0, npm.stderr);
    const { stdout } = runNpm(packed.folder, ['ls', ...where, '--all', '--parseable', '--long']);
    const installed = [...stdout.matchAll(/\/xvs-exporter\/node_modules\/[^:]+:([^:\n]+)/g)].map(
      ([, id = '']) => id,
    );
    const sbom = runNpm(repositoryPath(), ['run', '--silent', 'sbom']).stdout;
    const { components } = sbomSchema.parse(JSON.parse(sbom));
    const shipped = components.map(({ name, version, scope }) => ({ id: `${name}@${version}`, scope }));
    const required = shipped.filter(({ scope }) => scope === 'required').map(({ id }) => id);
    assert.deepEqual(
      required.filter((id) => !installed.includes(id)),
      [],
    );
    // Optional ones are builds for one platform each.
    assert.deepEqual(
      installed.filter((id) => !shipped.some((one) => one.id === id)),
      [],
    );
  });

  it('polls a service', async () => {
    await using service = startSimulatorProgram('--users=20');
    await using program = run(['once'], {
      XVS_UPSTREAM_BASE_URL: await service.waitForUrl(),
      XVS_UPSTREAM_TIMEOUT: '1h',
    });
    assert.equal(await program.exitCode, 0, program.stderr);
    const { families } = parseExposition(program.stdout, 'text');
    assert.equal(families.get('xvs_up')?.samples[0]?.value, 1);
  });

  it('tells the revision of the repository that it was packed in', async () => {
    await using program = run(['--version']);
    await program.exitCode;
    assert.ok(program.stdout.includes(`(${packed.revision}, Node.js`), program.stdout);
  });

  it('keeps its state in a database whose install script did not run', async () => {
    await using program = run([], { XVS_STATE_PATH: join(packed.folder, 'state') });
    await program.waitForOutput(/State restored/);
    assert.ok(existsSync(join(packed.folder, 'state/database/CURRENT')));
  });
});

function getMachineEnvironment(): Record<string, string> {
  const entries = Object.entries(getOuterEnvironment());
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}
