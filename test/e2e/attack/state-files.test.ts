import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { SETTINGS, startProgram, type Program } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { serveHttp } from '../../unit/upstream/servers.ts';
import { RunningExporter } from '../program/running-exporter.ts';

const CODES = ['A', 'B'];

function start(serviceUrl: string, statePath: string, pollInterval: string): Program {
  return startProgram([], {
    ...SETTINGS,
    XVS_UPSTREAM_BASE_URL: serviceUrl,
    XVS_SERVICE_CODES: CODES.join(','),
    XVS_POLL_INTERVAL: pollInterval,
    XVS_STATE_PATH: statePath,
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

for (const [when, pollInterval] of [
  ['between two polls', '1s'],
  ['before the first poll and a stop', '1h'],
] as const)
  test(`a folder of the state that is removed ${when} costs no counter`, { timeout: 600_000 }, async (t) => {
    let bytes = 0;
    const service = await serveHttp(t, (_, response) => {
      bytes += 1000;
      const task = { id: 'task', vs_id: 'server', input_bytes: bytes, inputs: [], outputs: [] };
      response.end(JSON.stringify({ ret: 0, user_list: [], task_list: [task] }));
    });
    using folder = new TemporaryFolder();
    const path = folder.at('state');
    {
      await using program = start(service, path, '1s');
      const exporter = await RunningExporter.attach(program);
      await waitUntil(
        () => readInputBytes(exporter),
        (counted) => Math.min(...counted) > 0,
      );
      await stop(program);
    }
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
    await using program = start(service, path, '1h');
    const after = await readInputBytes(await RunningExporter.attach(program));
    for (const [index, counted] of before.entries())
      assert.ok(counted > 0 && (after[index] ?? 0) >= counted, `${before.join()} → ${after.join()}`);
  });

for (const name of ['CURRENT', 'LOCK', 'LOG', '000003.log'])
  test(`a state whose ${name} is a FIFO is set aside`, { timeout: 600_000 }, async () => {
    using folder = new TemporaryFolder();
    const path = folder.at('state');
    mkdirSync(`${path}/database`, { recursive: true });
    execFileSync('mkfifo', [`${path}/database/${name}`]);
    await using program = start('http://127.0.0.1:1', path, '1s');
    await program.waitForPort();
    assert.match(program.stderr, /State is unusable; the counters of all service codes start at 0/);
    await stop(program);
    assert.match(readdirSync(path).join(), /database\.damaged-/);
  });
