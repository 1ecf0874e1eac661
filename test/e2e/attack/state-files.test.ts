import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { RunningExporter } from '../program/running-exporter.ts';
import {
  readInputBytes,
  readRestored,
  runForTwoPolls,
  serveGrowingTask,
  start,
  stop,
} from './stateful-exporter.ts';

test('a folder of the state that is removed between two polls costs no counter', async (t) => {
  const service = await serveGrowingTask(t);
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await runForTwoPolls(service, path);
  let before: readonly number[];
  {
    await using program = start(service, path, '1s');
    const exporter = await RunningExporter.attach(program);
    rmSync(path, { recursive: true });
    await exporter.waitForLog(/"level":"warn"[^\n]*State write failed/);
    await exporter.waitForLog(/State is written again/);
    assert.equal(await exporter.sumFamily('xvs_exporter_state_write_errors_total'), 1);
    before = await readInputBytes(exporter);
    await stop(program);
  }
  assertNotLess(await readRestored(service, path), before);
});

test('a folder of the state that is removed before the first listing and a stop costs no counter', async (t) => {
  const service = await serveGrowingTask(t);
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await runForTwoPolls(service, path);
  const before = await readRestored(service, path);
  {
    await using program = start('http://127.0.0.1:1', path, '1s');
    const exporter = await RunningExporter.attach(program);
    rmSync(path, { recursive: true });
    await stop(program);
    assert.match(exporter.output, /"level":"warn"[^\n]*State write failed/);
  }
  assertNotLess(await readRestored(service, path), before);
});

function assertNotLess(after: readonly number[], before: readonly number[]): void {
  for (const [index, counted] of before.entries())
    assert.ok(counted > 0 && (after[index] ?? 0) >= counted, `${before.join()} → ${after.join()}`);
}

for (const name of ['CURRENT', 'LOCK', 'LOG', '000003.log'])
  test(`a state whose ${name} is a FIFO is set aside`, async () => {
    using folder = new TemporaryFolder();
    const path = folder.at('state');
    mkdirSync(`${path}/database`, { recursive: true });
    execFileSync('mkfifo', [`${path}/database/${name}`]);
    await using program = start('http://127.0.0.1:1', path, '1s');
    await program.waitForPort();
    assert.match(program.stderr, /State is unusable; the counters of all service codes start at 0/);
    await stop(program);
    assert.match(readdirSync(path).join(), /database\.set-aside-/);
  });

/** The first user other than the one of this process; only root can act as another one. */
const OTHER_USER = 65_534;

test(
  'another user cannot read a state that a former version made readable',
  { timeout: 600_000 },
  async (t) => {
    const service = await serveGrowingTask(t);
    using folder = new TemporaryFolder();
    const path = folder.at('state');
    await runForTwoPolls(service, path);
    for (const readable of [folder.path, path, `${path}/database`]) chmodSync(readable, 0o755);
    const restored = await readRestored(service, path);
    assert.ok(Math.min(...restored) > 0, restored.join());
    const [name = ''] = readdirSync(`${path}/database`).filter((file) => file.endsWith('.log'));
    assert.notEqual(name, '');
    const isRoot = process.getuid?.() === 0;
    const { status } = spawnSync('cat', [`${path}/database/${name}`], isRoot ? { uid: OTHER_USER } : {});
    assert.deepEqual([statSync(`${path}/database`).mode & 0o777, status], [0o700, isRoot ? 1 : 0]);
  },
);

/** Flips the bit that makes the first key of a table shorter than what LevelDB adds to each key. */
function damageFirstKey(databasePath: string): void {
  const name = readdirSync(databasePath).find((file) => file.endsWith('.ldb'));
  const path = `${databasePath}/${name}`;
  const table = readFileSync(path);
  // Before a key: the length that it shares with the last one, that of the rest, and that of its value.
  const lengthIndex = table.indexOf('\0format') - 2;
  table[lengthIndex] = (table[lengthIndex] ?? 0) ^ 8;
  writeFileSync(path, table);
}

test('a wrong bit of a table, which aborts LevelDB, costs four starts', async (t) => {
  const service = await serveGrowingTask(t);
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  // Each start makes a table of the log. LevelDB compares the keys of two.
  for (let tables = 0; tables < 2; tables += 1) await runForTwoPolls(service, path);
  damageFirstKey(`${path}/database`);
  for (let aborts = 0; aborts < 4; aborts += 1) {
    await using program = start(service, path, '1s');
    assert.equal(await program.exitCode, null);
    assert.match(program.stderr, /Assertion/);
  }
  await using program = start(service, path, '1s');
  await program.waitForPort();
  assert.equal(program.stderr.match(/"level":"warn"/g)?.length, 1, program.stderr);
  assert.match(program.stderr, /State is unusable; the counters of all service codes start at 0/);
  await stop(program);
  assert.match(readdirSync(path).join(), /^database,database\.set-aside-\w+$/);
});
