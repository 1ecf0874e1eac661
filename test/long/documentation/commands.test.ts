import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { Program } from '../../support/program.ts';
import { listRepositoryFolder, repositoryPath } from '../../support/repository.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import {
  formatBlockName,
  GENERATED_FOLDERS,
  listCommandBlocks,
} from '../../integration/documentation/pages.ts';
import { COMMAND_RUNS } from './command-runs.ts';

for (const block of listCommandBlocks()) {
  const run = COMMAND_RUNS.get(formatBlockName(block));
  if (run === undefined || typeof run === 'string') continue;
  test(`these commands work as written: ${formatBlockName(block)}`, async (t) => {
    if (!canIsolate(t) || !(run.needs ?? []).every((program) => isInstalled(t, program))) return;
    using copy = copyRepository();
    const { folder = '.', before = '', until, after = '' } = run;
    const script = ['ip link set lo up', before, `cd ${folder}`, block.text, after].join('\n');
    await using program = runIsolated(script, copy.path);
    if (until === undefined) {
      assert.equal(await program.exitCode, 0, program.stdout + program.stderr);
    } else {
      await program.waitForOutput(until);
      // Kills the namespace with all its processes.
      program.signal('SIGKILL');
      await program.exitCode;
    }
  });
}

const ISOLATION = ['--map-root-user', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** Runs a script in separate namespaces, so that all ports are free, and mounts and processes end with the script. */
function runIsolated(script: string, folder: string): Program {
  const args = [...ISOLATION, 'bash', '-euo', 'pipefail', '-c', script];
  return new Program('unshare', args, { HOME: folder, NO_UPDATE_NOTIFIER: '1' }, folder);
}

function canIsolate(t: TestContext): boolean {
  if (!isInstalled(t, 'unshare')) return false;
  const { status, stderr } = spawnSync('unshare', [...ISOLATION, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (status === 0) return true;
  assert.notEqual(process.env['CI'], 'true', `Expected to create a network namespace, found ${stderr}`);
  t.diagnostic(`NOT CHECKED: no network namespace (${stderr.trim()})`);
  return false;
}

/** Copies the files of a built clone that the commands need, and links the dependencies. */
function copyRepository(): TemporaryFolder {
  const copy = new TemporaryFolder();
  const isCopied = (name: string): boolean =>
    name === 'dist' || (name !== 'test' && !GENERATED_FOLDERS.has(name));
  const names = listRepositoryFolder().filter(isCopied);
  for (const name of names) cpSync(repositoryPath(name), copy.at(name), { recursive: true });
  symlinkSync(repositoryPath('node_modules'), copy.at('node_modules'));
  return copy;
}
