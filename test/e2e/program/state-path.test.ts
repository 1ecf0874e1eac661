import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { parseExposition } from '../../support/exposition-parser.ts';
import { isLinux } from '../../support/linux.ts';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { serveHttp } from '../../support/servers.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitForValue, waitUntil } from '../../support/wait-until.ts';

for (const [name, path, found] of [
  ['a file', '/etc/passwd', /which cannot be used \(a part of the path is a file\)/],
  ['a folder in a file', '/etc/passwd/state', /which cannot be used \(a part of the path is a file\)/],
  [
    'a folder on a file system without files',
    '/proc/1/state',
    /its parent folder does not exist|permission denied/,
  ],
] as const)
  test(`state.path that is ${name} is one clear error at the start`, async (t) => {
    if (path.startsWith('/proc/') && !isLinux(t, '/proc')) return;
    await using program = startProgram([], { ...SETTINGS, XVS_STATE_PATH: path });
    assert.equal(await program.exitCode, 2);
    const [start, error = '', ...others] = program.stderr.trimEnd().split('\n');
    assert.match(String(start), /Starting/);
    assert.match(
      error,
      /"level":"error".*state\.path: expected a folder that this process can .*Startup failed/,
    );
    assert.match(error, found);
    assert.match(error, /choose a folder on a local disk that the exporter's user owns/);
    assert.deepEqual(others, []);
  });

test('counters of a state that is older than the last scrape appear when a listing has caught up', async (t) => {
  using folder = new TemporaryFolder();
  const [state, backup] = [folder.at('state'), folder.at('backup')];
  let bytes = 100;
  let isDown = false;
  let polls = 0;
  const serviceUrl = await serveHttp(t, (_request, response) => {
    polls += 1;
    const task = { id: 'task-1', vs_id: 'server-1', input_bytes: bytes, inputs: [], outputs: [] };
    response.writeHead(isDown ? 502 : 200);
    response.end(JSON.stringify({ ret: 0, user_list: [], task_list: [task] }));
  });
  const start = async () => {
    const settings = { XVS_UPSTREAM_BASE_URL: serviceUrl, XVS_POLL_INTERVAL: '1s', XVS_STATE_PATH: state };
    const program = startProgram([], { ...SETTINGS, ...settings });
    const url = `http://127.0.0.1:${await program.waitForPort()}/metrics`;
    const read = async (): Promise<number | undefined> => {
      const { families } = parseExposition(await (await fetch(url)).text(), 'text');
      return families.get('xvs_input_bytes_total')?.samples[0]?.value;
    };
    return { program, read };
  };
  {
    await using first = (await start()).program;
    const before = polls;
    await waitUntil(
      () => polls,
      (now) => now > before + 1,
    );
    first.signal('SIGTERM');
    assert.equal(await first.exitCode, 0);
  }
  cpSync(state, backup, { recursive: true });
  bytes = 1100;
  {
    const { program, read } = await start();
    await using second = program;
    await waitForValue(read, 1000);
    second.signal('SIGKILL');
    await second.exitCode;
  }
  rmSync(state, { recursive: true });
  cpSync(backup, state, { recursive: true });
  isDown = true;
  const { program, read } = await start();
  await using third = program;
  const before = polls;
  await waitUntil(
    () => polls,
    (now) => now > before + 1,
  );
  assert.equal(await read(), undefined);
  isDown = false;
  assert.equal(await waitUntil(read, (value) => value !== undefined), 1000);
  third.signal('SIGTERM');
  assert.equal(await third.exitCode, 0);
});
