import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseExposition } from '../support/exposition-parser.ts';
import { xvsExporter, type Program } from '../support/program.ts';
import { until } from '../support/until.ts';
import { Folder } from '../state/keeping.ts';

/** A seed whose tasks all live on for as long as the test may take, and that has some born meanwhile. */
const SIMULATOR = ['--seed=321', '--users=5', '--tasks=12', '--control', '--listen-address=127.0.0.1:0'];

const simulator = (): Program => xvsExporter(['simulate', ...SIMULATOR]);
const urlOf = (program: Program): Promise<string> => program.printed(/ on (http:\S+)/);

function exporter(serviceUrl: string, stateFile: string, ...flags: string[]): Program {
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
  return xvsExporter(flags, settings);
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
  /** Of every byte counter. */
  readonly created: ReadonlySet<number>;
  /** When the state was written last; 0 before the first time. */
  readonly written: number;
  readonly series: ReadonlyMap<string, number>;
}

async function scrape(program: Program): Promise<Scrape> {
  const port = await program.printed(/"port":(\d+),"msg":"Listening"/);
  const headers = { accept: 'application/openmetrics-text' };
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
  const { families } = parseExposition(await response.text(), 'openmetrics');
  const samples = [...families.values()].flatMap((family) => family.samples);
  const sum = (name: string) =>
    samples.filter((one) => one.name === `${name}_total`).reduce((total, { value }) => total + value, 0);
  const created = samples.filter(({ name }) => name === 'xvs_input_bytes_created').map(({ value }) => value);
  const series = new Map(samples.map(({ name, value }) => [name, value]));
  return {
    input: sum(FAMILIES.input),
    output: sum(FAMILIES.output),
    polls: sum(FAMILIES.polls),
    created: new Set(created),
    written: series.get('xvs_exporter_state_last_success_timestamp_seconds') ?? 0,
    series,
  };
}

/** What the service says to have moved since it began; with its tasks frozen, so that it is the same later. */
async function accountOfFrozen(url: string): Promise<{ input: number; output: number }> {
  await fetch(`${url}/-/faults`, { method: 'PUT', body: '{"fault":"freeze_ingest"}' });
  const response = await fetch(`${url}/-/account?service_code=TESTING`);
  const account = JSON.parse(await response.text());
  return { input: account.input_bytes_pushed, output: account.http_output_bytes_pushed };
}

const thaw = (url: string): Promise<unknown> => fetch(`${url}/-/faults`, { method: 'DELETE' });

/** Lets bytes flow for a while: until the exporter has counted more of them. */
async function flowOn(program: Program): Promise<void> {
  const { input } = await scrape(program);
  await until(
    () => scrape(program),
    (now) => now.input > input,
  );
}

test('however the exporter ends, it goes on where it was: at the end its counters are what the service moved', async () => {
  using folder = new Folder();
  const path = folder.file();
  await using service = simulator();
  const url = await urlOf(service);
  const before = await accountOfFrozen(url);
  let births: ReadonlySet<number> | undefined;
  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
    await using program = exporter(url, path);
    await program.printed(/Poll succeeded/);
    await thaw(url);
    await flowOn(program);
    const { created, written } = await scrape(program);
    births ??= created;
    assert.deepEqual(
      [...births].filter((birth) => !created.has(birth)),
      [],
    );
    // So that a process that is killed has kept something.
    await until(
      () => scrape(program),
      (now) => now.written > written,
    );
    program.signal(signal);
    assert.equal(await program.exit, signal === 'SIGTERM' ? 0 : null);
  }
  await using program = exporter(url, path);
  await program.printed(/State restored/);
  await flowOn(program);
  const after = await accountOfFrozen(url);
  const { polls } = await scrape(program);
  // Two whole polls of what stands still: a series that is born shows what it was born with at the second.
  const last = await until(
    () => scrape(program),
    (now) => now.polls >= polls + 4,
  );
  assert.ok(last.input > 0 && last.output > 0);
  assert.equal(last.input - (after.input - before.input), 0);
  assert.equal(last.output - (after.output - before.output), 0);
});

test('a file that is no state is set aside, told once, and replaced', async () => {
  using folder = new Folder();
  const path = folder.file();
  writeFileSync(path, 'hunter2');
  await using service = simulator();
  await using program = exporter(await urlOf(service), path);
  await program.printed(/"level":"warn",[^\n]*"reason":"foreign",[^\n]*State file cannot be used/);
  await program.printed(/State written/);
  const { series } = await scrape(program);
  assert.equal(series.get('xvs_exporter_state_write_errors_total'), 0);
  assert.ok((series.get('xvs_exporter_state_size_bytes') ?? 0) > 0);
  assert.ok((series.get('xvs_exporter_state_last_success_timestamp_seconds') ?? 0) > 0);
  program.signal('SIGTERM');
  assert.equal(await program.exit, 0);
  const [aside = '', ...others] = readdirSync(folder.path).filter((name) => name !== 'state');
  assert.match(aside, /^state\.damaged-\d{8}T\d{6}Z$/);
  assert.deepEqual(others, []);
  assert.equal(readFileSync(folder.file(aside), 'utf8'), 'hunter2');
  assert.match(readFileSync(path, 'utf8'), /^\{"format":"xvs-exporter state","version":1,/);
  assert.doesNotMatch(program.stderr, /hunter2/);
});

test('a folder that does not exist is told in one line, with exit code 1', async () => {
  using folder = new Folder();
  await using program = exporter('http://127.0.0.1:1', folder.file('none/state'));
  assert.equal(await program.exit, 1);
  const errors = program.stderr.split('\n').filter((line) => line.includes('"level":"error"'));
  assert.equal(errors.length, 1);
  assert.match(errors[0] ?? '', /state\.file: expected a file [^\n]*whose folder does not exist/);
});

test('a folder that goes away while it runs shows in a metric and one line, and the exporter goes on', async () => {
  using folder = new Folder();
  await using service = simulator();
  await using program = exporter(await urlOf(service), folder.file());
  await program.printed(/State written/);
  folder[Symbol.dispose]();
  const { series } = await until(
    () => scrape(program),
    (now) => (now.series.get('xvs_exporter_state_write_errors_total') ?? 0) >= 2,
  );
  assert.equal(series.get('xvs_up'), 1);
  assert.equal(program.stderr.match(/"level":"warn",[^\n]*State not written/g)?.length, 1);
  program.signal('SIGTERM');
  assert.equal(await program.exit, 0);
});
