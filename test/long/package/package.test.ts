import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseExposition } from '../../support/exposition-parser.ts';
import { Program, SETTINGS } from '../../support/program.ts';
import { listRepositoryFolder, repositoryPath, readRepositoryFile } from '../../support/repository.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';
import { runNpm, getOuterEnvironment, pack, type PackedPackage } from './packed-package.ts';

const manifest: { version: string; dependencies: object } = JSON.parse(readRepositoryFile('package.json'));

/** Files of the package besides the program. */
function listExpectedDocuments(): readonly string[] {
  const all = (folder: string): readonly string[] =>
    listRepositoryFolder(...folder.split('/')).map((name) => `${folder}/${name}`);
  return [
    'package.json',
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
    folder = join(packed.folder, 'empty');
    mkdirSync(folder);
  });
  after(() => packed[Symbol.dispose]());

  /** Runs the program as a user of the package does. */
  const npx = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Program =>
    new Program('npx', ['xvs-exporter', ...args], { ...getMachineEnvironment(), ...env }, folder);

  it('contains only the program and the files to set it up', () => {
    const paths = packed.files.map(({ path }) => path);
    assert.deepEqual(paths.toSorted(), [...listExpectedDocuments(), ...listExpectedProgram()].toSorted());
  });

  it('installs into an empty folder, with the dependencies that it names', () => {
    const installed = runNpm(folder, [
      'install',
      `--prefix=${folder}`,
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      packed.file,
    ]);
    assert.equal(installed.status, 0, installed.stderr);
    for (const name of Object.keys(manifest.dependencies))
      assert.ok(existsSync(join(folder, 'node_modules', name)), name);
    const program = join(folder, 'node_modules/xvs-exporter/dist/main.js');
    assert.match(readFileSync(program, 'utf8'), /^#!\/usr\/bin\/env node\n/);
    assert.equal(statSync(program).mode & 0o111, 0o111);
  });

  it('prints the version of the package', async () => {
    await using program = npx(['--version']);
    assert.equal(await program.exitCode, 0);
    assert.match(program.stdout, new RegExp(`^xvs-exporter ${manifest.version} \\(`));
  });

  it('polls a service', async () => {
    await using service = startSimulatorProgram('--users=20');
    const url = await service.waitForUrl();
    await using program = npx(['once'], { ...SETTINGS, XVS_UPSTREAM_BASE_URL: url });
    assert.equal(await program.exitCode, 0, program.stderr);
    const { families } = parseExposition(program.stdout, 'text');
    assert.equal(families.get('xvs_up')?.samples[0]?.value, 1);
  });

  it('keeps its state in a database whose install script did not run', async () => {
    // Not with npx, which does not pass SIGTERM on.
    const main = join(folder, 'node_modules/xvs-exporter/dist/main.js');
    await using program = new Program(process.execPath, [main], {
      ...SETTINGS,
      XVS_STATE_PATH: join(folder, 'state'),
    });
    await program.waitForOutput(/State restored/);
    assert.ok(existsSync(join(folder, 'state/database/CURRENT')));
  });
});

function getMachineEnvironment(): Record<string, string> {
  const entries = Object.entries(getOuterEnvironment());
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}
