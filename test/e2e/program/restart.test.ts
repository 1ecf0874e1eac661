import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseExposition } from '../../support/exposition-parser.ts';
import type { Program } from '../../support/program.ts';
import { clearFaults, setFault, startSimulatorProgram } from '../../support/simulator-program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { startWithState } from './running-exporter.ts';

/** With this seed, some tasks start during the test, and none ends. */
const WORLD = ['--seed=321', '--users=5', '--tasks=12'];

const startSimulator = (): Program => startSimulatorProgram(...WORLD);

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

/** Long enough for several kills before, during and after a poll of each process. */
const KILLS = Number(process.env['XVS_KILLS'] ?? 6);

test('after kills at any moment and stops, no counter steps back, and all match the bytes that were transferred', async () => {
  using folder = new TemporaryFolder();
  await using service = startSimulator();
  const url = await service.waitForUrl();
  const before = await freezeAndFetchTotals(url);
  let last = { input: 0, output: 0 };
  for (let number = 0; number < KILLS; number += 1) {
    await using program = startWithState(url, folder.at('state'));
    if (number === 0) await program.waitForOutput(/Poll succeeded/);
    const first = await scrape(program);
    assert.ok(first.input >= last.input && first.output >= last.output, `run ${number}`);
    await clearFaults(url);
    if (number % 3 === 0) await waitForGrowth(program);
    // A killed process must not have shown more than it has written.
    const killAtMs = performance.now() + 10 * ((number * 37) % 100);
    do last = await scrape(program);
    while (performance.now() < killAtMs);
    program.signal(number % 4 === 3 ? 'SIGTERM' : 'SIGKILL');
    await program.exitCode;
  }
  await using program = startWithState(url, folder.at('state'));
  await waitForGrowth(program);
  const after = await freezeAndFetchTotals(url);
  const { polls } = await scrape(program);
  const end = await waitUntil(
    () => scrape(program),
    (now) => now.polls >= polls + 4,
  );
  assert.ok(end.input > 0 && end.output > 0);
  assert.equal(end.input - (after.input - before.input), 0);
  assert.equal(end.output - (after.output - before.output), 0);
});

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
  await using service = startSimulator();
  await using program = startWithState(await service.waitForUrl(), path);
  await program.waitForOutput(
    /"level":"warn",[^\n]*State is unusable; the counters of all service codes start at 0/,
  );
  const { series } = await waitUntil(
    () => scrape(program),
    (now) => now.written > 0,
  );
  assert.equal(series.get('xvs_exporter_state_write_errors_total'), 0);
  assert.ok((series.get('xvs_exporter_state_size_bytes') ?? 0) > 0);
  program.signal('SIGTERM');
  assert.equal(await program.exitCode, 0);
  const [database, renamed = '', ...others] = readdirSync(path);
  assert.deepEqual([database, others], ['database', []]);
  assert.match(renamed, /^database\.damaged-\d{8}T\d{9}Z$/);
  assert.equal(readFileSync(folder.at(`state/${renamed}/CURRENT`), 'utf8'), 'hunter2');
  assert.doesNotMatch(program.stderr, /hunter2/);
});

for (const [name, path, found] of [
  ['a file', '/etc/passwd', /Not a directory|ENOTDIR/],
  ['a folder in a file', '/etc/passwd/state', /ENOTDIR/],
  ['a folder on a file system without files', '/proc/1/state', /ENOENT|EACCES|EPERM/],
] as const)
  test(`state.path that is ${name} is one clear error at the start`, async () => {
    await using program = startWithState('http://127.0.0.1:1', path);
    assert.equal(await program.exitCode, 1);
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
