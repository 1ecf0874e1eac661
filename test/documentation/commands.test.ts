import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isInstalled } from '../support/installed.ts';
import { Program } from '../support/program.ts';
import { repositoryFolder, repositoryPath } from '../support/repository.ts';
import { commandBlocks, type CommandBlock } from './pages.ts';
import { RUNS } from './runs.ts';

/** What of the repository a reader has not, or what is linked. */
const NOT_COPIED: readonly string[] = ['node_modules', 'build', '.git', '.cache', 'test'];

const nameOf = ({ page, text }: CommandBlock): string => `${page}: ${text.split('\n')[0] ?? ''}`;

test('every block of commands is run, or it is said why not', () => {
  const names = commandBlocks().map(nameOf);
  assert.deepEqual(names.toSorted(), [...RUNS.keys()].toSorted());
});

for (const block of commandBlocks()) {
  const run = RUNS.get(nameOf(block));
  if (run === undefined || typeof run === 'string') continue;
  test(`it works as written: ${nameOf(block)}`, async (t) => {
    if (!canIsolate(t) || !(run.needs ?? []).every((program) => isInstalled(t, program))) return;
    const copy = copyOfRepository(t);
    const { folder = '.', before = '', until, after = '' } = run;
    const script = ['ip link set lo up', before, `cd ${folder}`, block.text, after].join('\n');
    await using program = isolated(script, copy);
    if (until === undefined) {
      assert.equal(await program.exit, 0, program.stdout + program.stderr);
    } else {
      await program.printed(until);
      // Ends the namespace, and all that runs in it.
      program.signal('SIGKILL');
      await program.exit;
    }
  });
}

const ISOLATION = ['--map-root-user', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** Runs a script where nobody else has a port, and where what it mounts and starts is gone with it. */
function isolated(script: string, folder: string): Program {
  const args = [...ISOLATION, 'bash', '-euo', 'pipefail', '-c', script];
  return new Program('unshare', args, { HOME: folder, NO_UPDATE_NOTIFIER: '1' }, folder);
}

function canIsolate(t: TestContext): boolean {
  if (!isInstalled(t, 'unshare')) return false;
  const { status, stderr } = spawnSync('unshare', [...ISOLATION, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (status === 0) return true;
  assert.notEqual(process.env['CI'], 'true', `Expected a network of its own, found ${stderr}`);
  t.diagnostic(`NOT CHECKED: no network of its own (${stderr.trim()})`);
  return false;
}

function copyOfRepository(t: TestContext): string {
  const copy = mkdtempSync(join(tmpdir(), 'xvs-reader-'));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  for (const name of repositoryFolder().filter((entry) => !NOT_COPIED.includes(entry))) {
    cpSync(repositoryPath(name), join(copy, name), { recursive: true });
  }
  symlinkSync(repositoryPath('node_modules'), join(copy, 'node_modules'));
  return copy;
}
