import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseExposition } from '../../support/exposition-parser.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { clearFaults, setFault, startSimulatorProgram } from '../../support/simulator-program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** With this seed, some tasks start during the test, and none ends. */
const WORLD = ['--seed=321', '--users=5', '--tasks=12'];

const startSimulator = (): Program => startSimulatorProgram(...WORLD);

function startExporter(serviceUrl: string, stateFile: string, ...flags: string[]): Program {
  const settings = {
    XVS_UPSTREAM_BASE_URL: serviceUrl,
    XVS_SERVICE_CODES: 'TESTING',
    XVS_SECRET: 'abc',
    XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
    XVS_POLL_INTERVAL: '1s',
    XVS_STATE_INTERVAL: '1s',
    XVS_STATE_FILE: stateFile,
    XVS_LOG_LEVEL: 'debug',
  };
  return startProgram(flags, settings);
}

const FAMILIES = {
  input: 'xvs_input_bytes',
  output: 'xvs_http_output_bytes',
  polls: 'xvs_exporter_polls',
} as const;

interface Scrape {
  readonly input: number;
  readonly output: number;
  readonly polls: number;
  /** Time of the last state write; 0 before the first one. */
  readonly written: number;
  readonly series: ReadonlyMap<string, number>;
}

async function scrape(program: Program): Promise<Scrape> {
  const port = await program.waitForPort();
  const headers = { accept: 'application/openmetrics-text' };
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
  const { families } = parseExposition(await response.text(), 'openmetrics');
  const samples = [...families.values()].flatMap((family) => family.samples);
  const sum = (name: string) =>
    samples.filter((one) => one.name === `${name}_total`).reduce((total, { value }) => total + value, 0);
  const series = new Map(samples.map(({ name, value }) => [name, value]));
  return {
    input: sum(FAMILIES.input),
    output: sum(FAMILIES.output),
    polls: sum(FAMILIES.polls),
    written: series.get('xvs_exporter_state_last_success_timestamp_seconds') ?? 0,
    series,
  };
}

/** Freezes the simulator's tasks and returns the bytes transferred since its start. */
async function freezeAndFetchTotals(url: string): Promise<{ input: number; output: number }> {
  await setFault(url, { fault: 'freeze_ingest' });
  const response = await fetch(`${url}/-/totals?service_code=TESTING`);
  const account = JSON.parse(await response.text());
  return { input: account.input_bytes_pushed, output: account.http_output_bytes_pushed };
}

/** Waits until the exporter has counted more bytes. */
async function waitForGrowth(program: Program): Promise<void> {
  const { input } = await scrape(program);
  await waitUntil(
    () => scrape(program),
    (now) => now.input > input,
  );
}

test('after restarts by SIGTERM and SIGKILL, the counters match the bytes that the service transferred', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await using service = startSimulator();
  const url = await service.waitForUrl();
  const before = await freezeAndFetchTotals(url);
  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
    await using program = startExporter(url, path);
    await program.waitForOutput(/Poll succeeded/);
    await clearFaults(url);
    await waitForGrowth(program);
    const { written } = await scrape(program);
    // A killed process must have written a state before.
    await waitUntil(
      () => scrape(program),
      (now) => now.written > written,
    );
    program.signal(signal);
    assert.equal(await program.exitCode, signal === 'SIGTERM' ? 0 : null);
  }
  await using program = startExporter(url, path);
  await program.waitForOutput(/State restored/);
  await waitForGrowth(program);
  const after = await freezeAndFetchTotals(url);
  const { polls } = await scrape(program);
  // Two complete polls without change: a new series shows its initial bytes only from the second poll on.
  const last = await waitUntil(
    () => scrape(program),
    (now) => now.polls >= polls + 4,
  );
  assert.ok(last.input > 0 && last.output > 0);
  assert.equal(last.input - (after.input - before.input), 0);
  assert.equal(last.output - (after.output - before.output), 0);
});

test('a foreign file is renamed, logged once and replaced', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  writeFileSync(path, 'hunter2');
  await using service = startSimulator();
  await using program = startExporter(await service.waitForUrl(), path);
  await program.waitForOutput(/"level":"warn",[^\n]*"reason":"foreign",[^\n]*State file is unusable/);
  await program.waitForOutput(/State written/);
  const { series } = await scrape(program);
  assert.equal(series.get('xvs_exporter_state_write_errors_total'), 0);
  assert.ok((series.get('xvs_exporter_state_size_bytes') ?? 0) > 0);
  assert.ok((series.get('xvs_exporter_state_last_success_timestamp_seconds') ?? 0) > 0);
  program.signal('SIGTERM');
  assert.equal(await program.exitCode, 0);
  const [renamed = '', ...others] = readdirSync(folder.path).filter(
    (name) => !['state', 'state.journal'].includes(name),
  );
  assert.match(renamed, /^state\.damaged-\d{8}T\d{6}Z$/);
  assert.deepEqual(others, []);
  assert.equal(readFileSync(folder.at(renamed), 'utf8'), 'hunter2');
  assert.match(readFileSync(path, 'utf8'), /^\{"format":"xvs-exporter state","version":\d+,/);
  assert.doesNotMatch(program.stderr, /hunter2/);
});

test('a directory removed at run time sets a metric and logs one line, and the exporter keeps polling', async () => {
  using folder = new TemporaryFolder();
  await using service = startSimulator();
  await using program = startExporter(await service.waitForUrl(), folder.at('state'));
  await program.waitForOutput(/State written/);
  folder[Symbol.dispose]();
  const { series } = await waitUntil(
    () => scrape(program),
    (now) => (now.series.get('xvs_exporter_state_write_errors_total') ?? 0) >= 2,
  );
  assert.equal(series.get('xvs_up'), 1);
  assert.equal(program.stderr.match(/"level":"warn",[^\n]*State write failed/g)?.length, 1);
  program.signal('SIGTERM');
  assert.equal(await program.exitCode, 0);
});
