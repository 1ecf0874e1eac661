import assert from 'node:assert/strict';
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
  /** The value of the first series of a family; `undefined` if there is none. */
  getValue(this: void, family: string): number | undefined;
}

/** Scrapes with the headers that Prometheus sends. */
async function scrape(base: string, timeoutSeconds?: number, path = '/metrics'): Promise<ScrapeResult> {
  const headers: Record<string, string> =
    timeoutSeconds === undefined ? {} : { 'X-Prometheus-Scrape-Timeout-Seconds': String(timeoutSeconds) };
  const response = await fetch(base + path, { headers });
  const text = await response.text();
  const families = response.status === 200 ? parseExposition(text, 'text').families : new Map();
  const value = (family: string): number | undefined => families.get(family)?.samples[0]?.value;
  return { status: response.status, headers: response.headers, getValue: value };
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
