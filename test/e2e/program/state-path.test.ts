import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { PausableService } from '../../support/pausable-service.ts';
import { SETTINGS, startProgram, type Program } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { RunningExporter } from './running-exporter.ts';

function startWithState(serviceUrl: string, statePath: string): Program {
  return startProgram([], {
    ...SETTINGS,
    XVS_UPSTREAM_BASE_URL: serviceUrl,
    XVS_POLL_INTERVAL: '1s',
    XVS_STATE_PATH: statePath,
  });
}

test('a second process with the same state does not start and names the folder', async () => {
  using folder = new TemporaryFolder();
  await using first = startWithState('http://127.0.0.1:1', folder.at('state'));
  await first.waitForPort();
  await using second = startWithState('http://127.0.0.1:1', folder.at('state'));
  assert.equal(await second.exitCode, 1);
  assert.match(second.stderr, /Another process uses the state; waiting for it to end/);
  assert.match(
    second.stderr,
    /found \\"[^"]*\/state\\", which another process has locked; stop that process/,
  );
  first.signal('SIGTERM');
  assert.equal(await first.exitCode, 0);
});

test('a damaged database is renamed, logged once and replaced', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  mkdirSync(folder.at('state/database'), { recursive: true });
  writeFileSync(folder.at('state/database/CURRENT'), 'hunter2');
  await using service = await PausableService.start();
  await using program = startWithState(service.url, path);
  await program.waitForOutput(
    /"level":"warn",[^\n]*State is unusable; the counters of all service codes start at 0/,
  );
  const exporter = await RunningExporter.attach(program);
  await waitUntil(
    () => exporter.sumFamily('xvs_exporter_state_last_success_timestamp_seconds'),
    (written = 0) => written > 0,
  );
  assert.equal(await exporter.sumFamily('xvs_exporter_state_write_errors_total'), 0);
  program.signal('SIGTERM');
  assert.equal(await program.exitCode, 0);
  const [database, renamed = '', ...others] = readdirSync(path);
  assert.deepEqual([database, others], ['database', []]);
  assert.match(renamed, /^database\.damaged-\d{8}T\d{9}Z$/);
  assert.equal(readFileSync(folder.at(`state/${renamed}/CURRENT`), 'utf8'), 'hunter2');
  assert.doesNotMatch(program.stderr, /hunter2/);
});

for (const [name, path, found] of [
  ['a file', '/etc/passwd', /which cannot be used \(a part of the path is a file\)/],
  ['a folder in a file', '/etc/passwd/state', /which cannot be used \(a part of the path is a file\)/],
  [
    'a folder on a file system without files',
    '/proc/1/state',
    /its parent folder does not exist|permission denied/,
  ],
] as const)
  test(`state.path that is ${name} is one clear error at the start`, async () => {
    await using program = startWithState('http://127.0.0.1:1', path);
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
