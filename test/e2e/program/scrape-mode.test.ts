import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { PausableService } from '../../support/pausable-service.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { clearFaults, setFault, startSimulatorProgram } from '../../support/simulator-program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';

const FLAGS = ['--poll.mode=scrape', '--poll.min-age=0', '--web.listen-address=127.0.0.1:0'];

function startExporter(url: string, ...args: readonly string[]): Program {
  return startProgram([...FLAGS, ...args], {
    XVS_UPSTREAM_BASE_URL: url,
    XVS_SERVICE_CODES: 'TESTING',
    XVS_SECRET: 'abc',
  });
}

const waitForBaseUrl = async (program: Program): Promise<string> =>
  `http://127.0.0.1:${await program.waitForPort()}`;

interface ScrapeResult {
  readonly status: number;
  readonly headers: Headers;
  readonly tookMs: number;
  /** The value of the first series of a family; `undefined` if there is none. */
  getValue(this: void, family: string): number | undefined;
}

/** Scrapes with the headers that Prometheus sends. */
async function scrape(base: string, timeoutSeconds?: number, path = '/metrics'): Promise<ScrapeResult> {
  const askedMs = performance.now();
  const headers: Record<string, string> =
    timeoutSeconds === undefined ? {} : { 'X-Prometheus-Scrape-Timeout-Seconds': String(timeoutSeconds) };
  const response = await fetch(base + path, { headers });
  const text = await response.text();
  const tookMs = performance.now() - askedMs;
  const families = response.status === 200 ? parseExposition(text, 'text').families : new Map();
  const value = (family: string): number | undefined => families.get(family)?.samples[0]?.value;
  return { status: response.status, headers: response.headers, tookMs, getValue: value };
}

/** Resolves when the server has read what was sent earlier on other connections. */
async function waitUntilRead(base: string): Promise<void> {
  await (await fetch(`${base}/-/healthy`)).text();
}

const waitForRequests = (service: PausableService, requests: number) =>
  waitUntil(
    () => service.requestCount,
    (count) => count >= requests,
  );

test('each scrape polls the service, and no other request does', async () => {
  await using simulator = startSimulatorProgram('--service-code=TESTING:abc');
  const url = await simulator.waitForUrl();
  await using exporter = startExporter(url);
  const base = await waitForBaseUrl(exporter);
  for (const path of ['/', '/service-codes/TESTING', '/-/healthy', '/-/ready']) {
    assert.equal((await fetch(base + path)).status, 200, path);
  }
  assert.equal((await fetch(`${base}/metrics`, { method: 'HEAD' })).status, 200);
  assert.doesNotMatch(exporter.stderr, /Poll succeeded/);

  const first = await scrape(base);
  assert.deepEqual([first.getValue('xvs_up'), first.getValue('xvs_exporter_polls_total')], [1, 1]);
  assert.ok((first.getValue('xvs_tasks') ?? 0) > 0);
  await setFault(url, { fault: 'ret', value: 7 });
  const failed = await scrape(base);
  assert.deepEqual([failed.getValue('xvs_up'), failed.getValue('xvs_ret')], [0, 7]);
  await clearFaults(url);
  const again = await scrape(base, 10, '/metrics?service_code=TESTING');
  assert.deepEqual([again.getValue('xvs_up'), again.getValue('xvs_exporter_polls_total')], [1, 3]);
});

test('scrapes right after the start have xvs_up', async () => {
  await using simulator = startSimulatorProgram('--service-code=TESTING:abc');
  await using exporter = startExporter(await simulator.waitForUrl());
  const base = await waitForBaseUrl(exporter);
  const scrapes = await Promise.all(Array.from({ length: 8 }, () => scrape(base)));
  assert.deepEqual(
    scrapes.map(({ getValue }) => getValue('xvs_up')),
    scrapes.map(() => 1),
  );
});

test('two concurrent scrapes share one request to the service', async () => {
  await using service = await PausableService.start();
  service.isPaused = true;
  await using exporter = startExporter(service.url);
  const base = await waitForBaseUrl(exporter);
  const one = scrape(base, 30);
  await waitForRequests(service, 1);
  const other = scrape(base, 30);
  await waitUntilRead(base);
  service.resume();
  for (const { getValue } of await Promise.all([one, other])) {
    assert.deepEqual([getValue('xvs_up'), getValue('xvs_tasks')], [1, 1]);
  }
  assert.equal(service.requestCount, 1);
});

test('a scrape during a hanging poll gets the last known values before its timeout', async () => {
  await using service = await PausableService.start();
  service.isPaused = true;
  await using exporter = startExporter(service.url, '--upstream.timeout=3s');
  const base = await waitForBaseUrl(exporter);

  const unknown = await scrape(base, 1);
  // No failure yet: the scrape was answered before the poll timed out.
  assert.ok(unknown.tookMs > 450, `${unknown.tookMs} ms`);
  const known = ['xvs_up', 'xvs_ret', 'xvs_tasks', 'xvs_input_bytes_total'].map(unknown.getValue);
  assert.deepEqual(known, [undefined, undefined, undefined, undefined]);
  await exporter.waitForOutput(/"reason":"timeout".*Poll failed/);
  const failed = await scrape(base, 1);
  assert.deepEqual([failed.getValue('xvs_up'), failed.getValue('xvs_tasks')], [0, undefined]);

  service.resume();
  await exporter.waitForOutput(/Poll succeeded/);
  assert.deepEqual((await scrape(base, 10)).getValue('xvs_up'), 1);
  service.isPaused = true;
  const last = await scrape(base, 1);
  assert.deepEqual([last.getValue('xvs_up'), last.getValue('xvs_tasks')], [1, 1]);
  assert.ok(last.tookMs > 450, `${last.tookMs} ms`);
});

test('a client that disconnects frees its slot, and its poll still counts', async () => {
  await using service = await PausableService.start();
  service.isPaused = true;
  await using exporter = startExporter(service.url, '--web.max-requests=1');
  const base = await waitForBaseUrl(exporter);
  const leaving = connect(Number(new URL(base).port), '127.0.0.1');
  leaving.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await waitForRequests(service, 1);
  leaving.destroy();
  // Only one request is allowed at a time, so the abandoned one has been released.
  const next = await waitUntil(
    () => scrape(base, 1),
    ({ status }) => status === 200,
  );
  assert.equal(next.getValue('xvs_exporter_polls_total'), 1);
  service.resume();
  await exporter.waitForOutput(/Poll succeeded/);
  assert.equal(service.requestCount, 1);
  assert.doesNotMatch(exporter.stderr, /Request failed/);
});

test('SIGTERM answers a waiting scrape with the last known values, and exits with 0', async () => {
  await using service = await PausableService.start();
  await using exporter = startExporter(service.url, '--upstream.timeout=10m');
  const base = await waitForBaseUrl(exporter);
  assert.equal((await scrape(base)).getValue('xvs_up'), 1);
  service.isPaused = true;
  const waiting = scrape(base, 60);
  await waitForRequests(service, 2);
  exporter.signal('SIGTERM');
  const { status, headers, getValue } = await waiting;
  assert.deepEqual([status, headers.get('connection'), getValue('xvs_up')], [200, 'close', 1]);
  assert.equal(await exporter.exitCode, 0);
  assert.doesNotMatch(exporter.stderr, /"level":"(?:error|fatal)"/);
});

test('a scrape of a code that a reload removes gets 404; min_age changes by reload, the mode by restart', async () => {
  using folder = new TemporaryFolder();
  await using service = await PausableService.start();
  const write = (poll: string, ...codes: readonly string[]): void =>
    folder.replace(
      'config.yml',
      `upstream: { base_url: "${service.url}" }\nsecret: abc\npoll: { ${poll} }\nservice_codes: [${codes.join()}]\n`,
    );
  write('mode: scrape, min_age: 15s', 'STAYS', 'GOES');
  await using exporter = startProgram([
    `--config.file=${folder.at('config.yml')}`,
    '--web.listen-address=127.0.0.1:0',
  ]);
  const base = await waitForBaseUrl(exporter);
  service.isPaused = true;
  const goes = scrape(base, 60, '/metrics?service_code=GOES');
  const all = scrape(base, 60);
  await waitForRequests(service, 2);
  write('mode: interval, min_age: 0', 'STAYS', 'COMES');
  exporter.signal('SIGHUP');
  assert.equal((await goes).status, 404);
  await exporter.waitForOutput(/"settings":\["poll.mode"\],"msg":"Some changed settings need a restart"/);
  assert.match(exporter.stderr, /"added":1,"changed":0,"kept":1,"removed":1,"msg":"Configuration reloaded"/);
  service.resume();
  assert.equal((await all).status, 200);
  for (const requests of [3, 4]) {
    assert.equal((await scrape(base, 60, '/metrics?service_code=COMES')).getValue('xvs_up'), 1);
    assert.equal(service.requestCount, requests);
  }
});
