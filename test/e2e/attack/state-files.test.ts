import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { SETTINGS, startProgram, type Program } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { serveHttp } from '../../support/servers.ts';
import { RunningExporter } from '../program/running-exporter.ts';

const CODES = ['A', 'B'];

function start(serviceUrl: string, statePath: string, pollInterval: string, nodeOptions = ''): Program {
  return startProgram([], {
    ...SETTINGS,
    XVS_UPSTREAM_BASE_URL: serviceUrl,
    XVS_SERVICE_CODES: CODES.join(','),
    XVS_POLL_INTERVAL: pollInterval,
    XVS_STATE_PATH: statePath,
    NODE_OPTIONS: nodeOptions,
  });
}

/** Serves a task whose input grows by 1,000 bytes in each listing. */
async function serveGrowingTask(t: TestContext): Promise<string> {
  let bytes = 0;
  return await serveHttp(t, (_, response) => {
    bytes += 1000;
    const task = { id: 'task', vs_id: 'server', input_bytes: bytes, inputs: [], outputs: [] };
    response.end(JSON.stringify({ ret: 0, user_list: [], task_list: [task] }));
  });
}

async function readInputBytes(exporter: RunningExporter): Promise<readonly number[]> {
  return await Promise.all(
    CODES.map(async (code) => (await exporter.sumFamily('xvs_input_bytes_total', code)) ?? 0),
  );
}

async function stop(program: Program): Promise<void> {
  program.signal('SIGTERM');
  assert.equal(await program.exitCode, 0);
}

/** Runs an exporter until it has polled each code twice, and stops it. */
async function runForTwoPolls(serviceUrl: string, path: string): Promise<void> {
  await using program = start(serviceUrl, path, '1s');
  const exporter = await RunningExporter.attach(program);
  await waitUntil(
    () => Promise.all(CODES.map((code) => exporter.sumFamily('xvs_exporter_polls_total', code))),
    (polls) => polls.every((count = 0) => count >= 2),
  );
  await stop(program);
}

/** What the next start restores, before its first poll or after. */
async function readRestored(serviceUrl: string, path: string): Promise<readonly number[]> {
  await using program = start(serviceUrl, path, '1h');
  return await readInputBytes(await RunningExporter.attach(program));
}

for (const [when, pollInterval] of [
  ['between two polls', '1s'],
  ['before the first poll and a stop', '1h'],
] as const)
  test(`a folder of the state that is removed ${when} costs no counter`, async (t) => {
    const service = await serveGrowingTask(t);
    using folder = new TemporaryFolder();
    const path = folder.at('state');
    await runForTwoPolls(service, path);
    let before: readonly number[];
    {
      await using program = start(service, path, pollInterval);
      const exporter = await RunningExporter.attach(program);
      before = await readInputBytes(exporter);
      rmSync(path, { recursive: true });
      if (pollInterval === '1s') {
        await exporter.waitForLog(/"level":"warn"[^\n]*State write failed/);
        await exporter.waitForLog(/State is written again/);
        assert.equal(await exporter.sumFamily('xvs_exporter_state_write_errors_total'), 1);
        before = await readInputBytes(exporter);
      }
      await stop(program);
      assert.match(exporter.output, /"level":"warn"[^\n]*State write failed/);
    }
    const after = await readRestored(service, path);
    for (const [index, counted] of before.entries())
      assert.ok(counted > 0 && (after[index] ?? 0) >= counted, `${before.join()} → ${after.join()}`);
  });

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

/** Makes a process kill itself within some milliseconds after it began to open the database. */
const killWhileOpening = (afterMs: number): string =>
  `--import=data:text/javascript,${encodeURIComponent(`import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { writeFile } = fs.promises;
    fs.promises.writeFile = async (...file) => {
      await writeFile(...file);
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${afterMs});
    };
    fs.promises.rm = () => new Promise(() => undefined);
    syncBuiltinESMExports();`)}`;

test('twenty kills while the database is being opened, three in a row at most, cost nothing', async (t) => {
  const service = await serveGrowingTask(t);
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await runForTwoPolls(service, path);
  for (let kill = 1; kill <= 20; kill += 1) {
    await using killed = start(service, path, '1h', killWhileOpening(kill));
    assert.equal(await killed.exitCode, null);
    assert.deepEqual(readdirSync(path), ['database', 'database.opening']);
    if (kill % 3 !== 0) continue;
    const restored = await readRestored(service, path);
    assert.ok(Math.min(...restored) > 0, restored.join());
    assert.deepEqual(readdirSync(path), ['database']);
  }
});
