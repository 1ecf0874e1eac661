import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isInstalled } from '../../../support/installed-programs.ts';
import { startProgram } from '../../../support/program.ts';
import { repositoryPath, readRepositoryFile } from '../../../support/repository.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';
import { readUnitAssignments, readUnitValues } from './unit-file.ts';

/** Maximum exposure level of `systemd-analyze security`, in tenths. */
const THRESHOLD = 25;

/** Reads the assignments of the settings file. */
function readSettings(): readonly (readonly [string, string])[] {
  const text = readRepositoryFile('deploy/systemd/xvs-exporter.default');
  return [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]);
}

test('unit and chart give the same memory to the process and to its heap', () => {
  const values = readRepositoryFile('deploy/helm/xvs-exporter/values.yaml');
  const [memory = ''] = readUnitValues('MemoryMax');
  assert.match(values, new RegExp(`limits:\\n +memory: ${memory}i\\n`));
  const [options = ''] = readUnitValues('Environment').flatMap(
    (one) => one.match(/(?<=^"NODE_OPTIONS=).*(?="$)/) ?? [],
  );
  assert.match(values, new RegExp(`^nodeOptions: ${options}$`, 'm'));
});

test('systemd-analyze verify accepts the unit', (t) => {
  if (!isInstalled(t, 'systemd-analyze')) return;
  using folder = new TemporaryFolder();
  const unit = join(folder.path, 'xvs-exporter.service');
  // Node.js may be elsewhere on this machine.
  const text = readRepositoryFile('deploy/systemd/xvs-exporter.service');
  writeFileSync(unit, text.replace('ExecStart=/usr/bin/node ', `ExecStart=${process.execPath} `));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  assert.equal(stdout + stderr, '');
  assert.equal(status, 0);
});

test(`systemd-analyze security rates the exposure of the unit at most ${THRESHOLD / 10}`, (t) => {
  if (!isInstalled(t, 'systemd-analyze')) return;
  const unit = repositoryPath('deploy/systemd/xvs-exporter.service');
  const args = ['security', '--offline=true', `--threshold=${THRESHOLD}`, '--no-pager', unit];
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  assert.match(stdout, /Overall exposure level for xvs-exporter\.service: \d\.\d/);
  assert.equal(status, 0, stdout + stderr);
});

test('the unit allows the JIT of Node.js, and gives its user one private folder', () => {
  assert.deepEqual(readUnitValues('MemoryDenyWriteExecute'), []);
  assert.deepEqual(readUnitValues('DynamicUser'), ['yes']);
  assert.deepEqual(
    readUnitAssignments().filter(([key]) =>
      /^(ReadWritePaths|(State|Cache|Logs|Configuration)Directory(Mode)?)$/.test(key),
    ),
    [
      ['StateDirectory', 'xvs-exporter'],
      ['StateDirectoryMode', '0700'],
    ],
  );
});

test('the program accepts the arguments and variables of unit and settings file', async () => {
  using credentials = new TemporaryFolder();
  const [credential = ''] = readUnitValues('LoadCredential');
  writeFileSync(join(credentials.path, credential.split(':')[0] ?? ''), 'hidden-secret\n');
  const environment = readUnitValues('Environment').map((assignment) => {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(assignment) ?? [];
    return [name, value.replace('%d', credentials.path)] as const;
  });
  const env = Object.fromEntries([...readSettings(), ...environment]);
  const [command = ''] = readUnitValues('ExecStart');
  assert.match(command, /^\/usr\/bin\/node \/opt\/xvs-exporter\/dist\/main\.js$/);
  await using program = startProgram(['--config.check'], env);
  assert.equal(await program.exitCode, 0, program.stderr);
  assert.match(program.stdout, /1 service code\.\n(?:.*\n)* {2}TESTING +https:\/\/live\.example\.com +15s /);
});
