import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { HoldingService } from '../support/holding-service.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { xvsExporter, type Program } from '../support/program.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const FLAGS = ['--poll.mode=scrape', '--poll.min-age=0', '--web.listen-address=127.0.0.1:0'];

function exporterOf(url: string, ...args: readonly string[]): Program {
  return xvsExporter([...FLAGS, ...args], {
    XVS_UPSTREAM_BASE_URL: url,
    XVS_SERVICE_CODES: 'TESTING',
    XVS_SECRET: 'abc',
  });
}

const baseOf = async (program: Program): Promise<string> =>
  `http://127.0.0.1:${await program.printed(/"port":(\d+),"msg":"Listening"/)}`;

interface Scraped {
  readonly status: number;
  readonly headers: Headers;
  readonly tookMs: number;
  /** The value of a family with one series; `undefined` where it has none. */
  value(this: void, family: string): number | undefined;
}

/** Scrapes as Prometheus does. */
async function scrape(base: string, timeoutSeconds?: number, path = '/metrics'): Promise<Scraped> {
  const askedMs = performance.now();
  const headers: Record<string, string> =
    timeoutSeconds === undefined ? {} : { 'X-Prometheus-Scrape-Timeout-Seconds': String(timeoutSeconds) };
  const response = await fetch(base + path, { headers });
  const text = await response.text();
  const tookMs = performance.now() - askedMs;
  const families = response.status === 200 ? parseExposition(text, 'text').families : new Map();
  const value = (family: string): number | undefined => families.get(family)?.samples[0]?.value;
  return { status: response.status, headers: response.headers, tookMs, value };
}

/** Resolves once the server has read what was sent before on another connection. */
async function untilRead(base: string): Promise<void> {
  await (await fetch(`${base}/-/healthy`)).text();
}

const reached = (service: HoldingService, requests: number) =>
  until(
    () => service.requests,
    (count) => count >= requests,
  );

test('each scrape shows how the service is at that moment, and nothing else makes it poll', async () => {
  await using simulator = xvsExporter([
    'simulate',
    '--listen-address=127.0.0.1:0',
    '--service-code=TESTING:abc',
    '--control',
  ]);
  const url = await simulator.printed(/ on (http:\S+)/);
  await using exporter = exporterOf(url);
  const base = await baseOf(exporter);
  for (const path of ['/', '/service-codes/TESTING', '/-/healthy', '/-/ready']) {
    assert.equal((await fetch(base + path)).status, 200, path);
  }
  assert.equal((await fetch(`${base}/metrics`, { method: 'HEAD' })).status, 200);
  assert.doesNotMatch(exporter.stderr, /Poll succeeded/);

  const first = await scrape(base);
  assert.deepEqual([first.value('xvs_up'), first.value('xvs_exporter_polls_total')], [1, 1]);
  assert.ok((first.value('xvs_tasks') ?? 0) > 0);
  await fetch(`${url}/-/faults`, { method: 'PUT', body: '{"fault":"ret","value":7}' });
  const failed = await scrape(base);
  assert.deepEqual([failed.value('xvs_up'), failed.value('xvs_ret')], [0, 7]);
  await fetch(`${url}/-/faults`, { method: 'DELETE' });
  const again = await scrape(base, 10, '/metrics?service_code=TESTING');
  assert.deepEqual([again.value('xvs_up'), again.value('xvs_exporter_polls_total')], [1, 3]);
});

test('two scrapes at the same time are one request to the service', async () => {
  await using service = await HoldingService.listening();
  service.isHolding = true;
  await using exporter = exporterOf(service.url);
  const base = await baseOf(exporter);
  const one = scrape(base, 30);
  await reached(service, 1);
  const other = scrape(base, 30);
  await untilRead(base);
  service.release();
  for (const { value } of await Promise.all([one, other])) {
    assert.deepEqual([value('xvs_up'), value('xvs_tasks')], [1, 1]);
  }
  assert.equal(service.requests, 1);
});

test('a service that hangs is no zero but what was known, in time', async () => {
  await using service = await HoldingService.listening();
  service.isHolding = true;
  await using exporter = exporterOf(service.url, '--upstream.timeout=1500ms');
  const base = await baseOf(exporter);

  const unknown = await scrape(base, 1);
  assert.ok(unknown.tookMs > 450 && unknown.tookMs < 1000, `${unknown.tookMs} ms`);
  const known = ['xvs_up', 'xvs_ret', 'xvs_tasks', 'xvs_input_bytes_total'].map(unknown.value);
  assert.deepEqual(known, [undefined, undefined, undefined, undefined]);
  await exporter.printed(/"reason":"timeout".*Poll failed/);
  const failed = await scrape(base, 1);
  assert.deepEqual([failed.value('xvs_up'), failed.value('xvs_tasks')], [0, undefined]);
  assert.ok(failed.tookMs < 1000, `${failed.tookMs} ms`);

  service.release();
  await exporter.printed(/Poll succeeded/);
  assert.deepEqual((await scrape(base, 10)).value('xvs_up'), 1);
  service.isHolding = true;
  const last = await scrape(base, 1);
  assert.deepEqual([last.value('xvs_up'), last.value('xvs_tasks')], [1, 1]);
  assert.ok(last.tookMs > 450 && last.tookMs < 1000, `${last.tookMs} ms`);
});

test('a client that goes away leaves nothing but its poll, which counts', async () => {
  await using service = await HoldingService.listening();
  service.isHolding = true;
  await using exporter = exporterOf(service.url, '--web.max-requests=1');
  const base = await baseOf(exporter);
  const leaving = connect(Number(new URL(base).port), '127.0.0.1');
  leaving.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await reached(service, 1);
  leaving.destroy();
  // There is room for one request alone: it has been given up.
  const next = await until(
    () => scrape(base, 1),
    ({ status }) => status === 200,
  );
  assert.equal(next.value('xvs_exporter_polls_total'), 1);
  service.release();
  await exporter.printed(/Poll succeeded/);
  assert.equal(service.requests, 1);
  assert.doesNotMatch(exporter.stderr, /Request failed/);
});

test('on SIGTERM the scrape that waits is answered from what is known, and the exporter ends with 0', async () => {
  await using service = await HoldingService.listening();
  await using exporter = exporterOf(service.url, '--upstream.timeout=60s', '--upstream.headers-timeout=60s');
  const base = await baseOf(exporter);
  assert.equal((await scrape(base)).value('xvs_up'), 1);
  service.isHolding = true;
  const waiting = scrape(base, 60);
  await reached(service, 2);
  const askedMs = performance.now();
  exporter.signal('SIGTERM');
  const { status, headers, value } = await waiting;
  assert.deepEqual([status, headers.get('connection'), value('xvs_up')], [200, 'close', 1]);
  assert.equal(await exporter.exit, 0);
  assert.ok(performance.now() - askedMs < 4000);
  assert.doesNotMatch(exporter.stderr, /"level":"(?:error|fatal)"/);
});

test('a code that goes while its scrape waits is not found; min_age is taken over, the mode is not until a restart', async () => {
  using folder = new TemporaryFolder();
  await using service = await HoldingService.listening();
  const write = (poll: string, ...codes: readonly string[]): void =>
    folder.replace(
      'config.yml',
      `upstream: { base_url: "${service.url}" }\nsecret: abc\npoll: { ${poll} }\nservice_codes: [${codes.join()}]\n`,
    );
  write('mode: scrape, min_age: 15s', 'STAYS', 'GOES');
  await using exporter = xvsExporter([
    `--config.file=${folder.at('config.yml')}`,
    '--web.listen-address=127.0.0.1:0',
  ]);
  const base = await baseOf(exporter);
  service.isHolding = true;
  const goes = scrape(base, 60, '/metrics?service_code=GOES');
  const all = scrape(base, 60);
  await reached(service, 2);
  write('mode: interval, min_age: 0', 'STAYS', 'COMES');
  exporter.signal('SIGHUP');
  assert.equal((await goes).status, 404);
  await exporter.printed(/"settings":\["poll.mode"\],"msg":"Settings have changed that need a restart"/);
  assert.match(exporter.stderr, /"added":1,"changed":0,"kept":1,"removed":1,"msg":"Configuration reloaded"/);
  service.release();
  assert.equal((await all).status, 200);
  for (const requests of [3, 4]) {
    assert.equal((await scrape(base, 60, '/metrics?service_code=COMES')).value('xvs_up'), 1);
    assert.equal(service.requests, requests);
  }
});
