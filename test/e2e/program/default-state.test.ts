import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { Program, PROGRAM_PATH, SETTINGS, startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { RunningExporter } from './running-exporter.ts';

/** The environment of a platform that gives the process a folder for its state. */
function createEnvironment(folder: string): Readonly<Record<string, string>> {
  return { ...SETTINGS, STATE_DIRECTORY: folder };
}

const IS_OPEN = 'xvs_exporter_state_open';

async function assertWithoutState(program: Program, reason: RegExp): Promise<void> {
  const exporter = await RunningExporter.attach(program);
  assert.equal(await exporter.sumFamily(IS_OPEN), 0);
  assert.equal(await exporter.sumFamily('xvs_exporter_state_write_errors_total'), undefined);
  const [warning = '', ...others] = program.stderr.match(/^(?!.*Poll failed).*"level":"warn".*$/gm) ?? [];
  assert.match(warning, /Default folder of the state cannot be used; running without state/);
  assert.match(warning, reason);
  assert.deepEqual(others, []);
}

test('the default folder keeps the state, and a second process in it runs without one', async () => {
  using folder = new TemporaryFolder();
  await using first = startProgram([], createEnvironment(folder.path));
  const exporter = await RunningExporter.attach(first);
  assert.equal(await exporter.sumFamily(IS_OPEN), 1);
  await using second = startProgram([], createEnvironment(folder.path));
  await assertWithoutState(second, /which another process has locked/);
  assert.deepEqual(readdirSync(folder.path), ['database']);
});

test('a default folder that is a file is one warning', async () => {
  await using program = startProgram([], createEnvironment('/etc/passwd'));
  await assertWithoutState(program, /a part of the path is a file/);
});

test('a default folder of another user is one warning', async () => {
  using folder = new TemporaryFolder();
  mkdirSync(folder.at('state'));
  for (const path of [folder.path, folder.at('state')]) chmodSync(path, 0o555);
  // Root may write everywhere.
  const other = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const argv = [...(process.getuid?.() === 0 ? other : []), process.execPath, PROGRAM_PATH];
  await using program = new Program('env', argv, createEnvironment(folder.at('state')));
  await assertWithoutState(program, /permission denied/);
  chmodSync(folder.path, 0o755);
});

for (const [name, args, env] of [
  ['state.path is none', [], { XVS_STATE_PATH: 'none' }],
  ['the command is once', ['once'], {}],
  ['the configuration is only checked', ['--config.check'], {}],
] as const)
  test(`if ${name}, the default folder stays empty`, async () => {
    using folder = new TemporaryFolder();
    await using program = startProgram(args, { ...createEnvironment(folder.path), ...env });
    if (args.length === 0) {
      const exporter = await RunningExporter.attach(program);
      assert.equal(await exporter.sumFamily(IS_OPEN), undefined);
    } else {
      await program.exitCode;
      assert.doesNotMatch(program.stdout, new RegExp(IS_OPEN));
    }
    assert.deepEqual(readdirSync(folder.path), []);
  });
