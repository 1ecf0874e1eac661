import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { SETTINGS, startProgram, type Program } from '../../support/program.ts';
import { serveHttp } from '../../support/servers.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { RunningExporter } from '../program/running-exporter.ts';

const CODES = ['A', 'B'];

/** Starts an exporter that keeps the state in a folder. */
export function start(
  serviceUrl: string,
  statePath: string,
  pollInterval: string,
  nodeOptions = '',
): Program {
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
export async function serveGrowingTask(t: TestContext): Promise<string> {
  let bytes = 0;
  return await serveHttp(t, (_, response) => {
    bytes += 1000;
    const task = { id: 'task', vs_id: 'server', input_bytes: bytes, inputs: [], outputs: [] };
    response.end(JSON.stringify({ ret: 0, user_list: [], task_list: [task] }));
  });
}

/** Returns the input bytes of each code. */
export async function readInputBytes(exporter: RunningExporter): Promise<readonly number[]> {
  return await Promise.all(
    CODES.map(async (code) => (await exporter.sumFamily('xvs_input_bytes_total', code)) ?? 0),
  );
}

/** Stops an exporter and waits for its end. */
export async function stop(program: Program): Promise<void> {
  program.signal('SIGTERM');
  assert.equal(await program.exitCode, 0);
}

/** Runs an exporter until it has polled each code twice, and stops it. */
export async function runForTwoPolls(serviceUrl: string, path: string): Promise<void> {
  await using program = start(serviceUrl, path, '1s');
  const exporter = await RunningExporter.attach(program);
  await waitUntil(
    () => Promise.all(CODES.map((code) => exporter.sumFamily('xvs_exporter_polls_total', code))),
    (polls) => polls.every((count = 0) => count >= 2),
  );
  await stop(program);
}

/** What the next start has counted with its first listing: 0 without the state. */
export async function readRestored(serviceUrl: string, path: string): Promise<readonly number[]> {
  await using program = start(serviceUrl, path, '1s');
  const exporter = await RunningExporter.attach(program);
  await waitUntil(
    () => Promise.all(CODES.map((code) => exporter.sumFamily('xvs_input_bytes_total', code))),
    (bytes) => !bytes.includes(undefined),
  );
  return await readInputBytes(exporter);
}
