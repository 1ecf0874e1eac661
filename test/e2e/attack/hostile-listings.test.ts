import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { parseSeries, selectSeries, sumSeries, type Series } from '../../support/series.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { serveHttp } from '../../support/servers.ts';
import { AttackedExporter } from './attacked-exporter.ts';
import {
  buildNamesakesListing,
  buildOutputsListing,
  buildTasksWithNewIds,
  buildVersionsListing,
  serveCodes,
} from './hostile-service.ts';

const CODE = 'HOSTILE';
/** Limit for the heap, its young generation, buffers and the memory of the reader together. */
const MAX_RSS_MIB = 640;
const MILLION = 1_000_000;
const HEALTHY_LISTING = JSON.stringify({
  ret: 0,
  user_list: [],
  task_list: [{ id: 't', vs_id: 'v', input_bytes: 5, inputs: [], outputs: [] }],
});

/** Runs the program until it has read each listing in turn and the last one again, after a scrape, and returns its series. */
async function attack(
  t: TestContext,
  listings: readonly Buffer[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Series> {
  let requests = 0;
  const url = await serveHttp(t, (_request, response) => {
    const listing = listings[Math.min(requests, listings.length - 1)];
    requests += 1;
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(listing);
  });
  await using exporter = await AttackedExporter.start({
    XVS_UPSTREAM_BASE_URL: url,
    XVS_SERVICE_CODES: CODE,
    XVS_POLL_INTERVAL: '2s',
    ...settings,
  });
  // The next poll has started.
  const polls = listings.length + 2;
  const series = await waitUntil(
    async () => parseSeries((await exporter.get()).body),
    (scraped) => sumSeries(scraped, CATALOGUE.polls.name, CODE) >= polls,
  );
  assert.equal(sumSeries(series, CATALOGUE.up.name, CODE), 1);
  assert.equal(sumSeries(series, CATALOGUE.pollErrors.name, CODE), 0);
  assert.ok(exporter.program.peakRssMiB < MAX_RSS_MIB, `${exporter.program.peakRssMiB} MiB`);
  return series;
}

/** A new counter is exposed at 0 for 90 seconds. */
function hasSurplus(series: Series, item: string): boolean {
  return series.has(`${CATALOGUE.listingSurplus.name}{service_code="${CODE}",item="${item}"}`);
}

test('a million new client versions in each listing fold while they are read', async (t) => {
  const series = await attack(
    t,
    ['a', 'b', 'c'].map((prefix) => buildVersionsListing(prefix, MILLION)),
  );
  assert.equal(sumSeries(series, CATALOGUE.listingUsers.name, CODE), MILLION);
  assert.ok(hasSurplus(series, 'label_value'));
  assert.ok((series.get(`${CATALOGUE.series.name}{}`) ?? Number.NaN) < 5000);
});

test('a million new tasks in each listing are counted, and at most listing.max_tasks are remembered', async (t) => {
  const series = await attack(
    t,
    ['a', 'b', 'c'].map((prefix) => buildTasksWithNewIds(prefix, MILLION)),
  );
  assert.equal(sumSeries(series, CATALOGUE.listingTasks.name, CODE), MILLION);
  assert.ok(hasSurplus(series, 'task'));
});

for (const [condition, ...inputBytes] of [
  ['stalled', 0, 1],
  ['without input', 0],
] as const)
  test(`140,000 tasks of one expected name that are ${condition} are a task that is down`, async (t) => {
    using folder = new TemporaryFolder();
    folder.replace('xvs.yml', `service_codes: [{service_code: ${CODE}, expect: {names: [main]}}]`);
    const listings = inputBytes.map((bytes) => buildNamesakesListing('main', 140_000, bytes));
    const series = await attack(t, listings, {
      XVS_CONFIG_FILE: folder.at('xvs.yml'),
      XVS_SERVICE_CODES: '',
      XVS_TASKS_NAME: 'opaque',
      XVS_POLL_STALL_AFTER: '1ms',
    });
    assert.equal(sumSeries(series, CATALOGUE.expectedTaskUp.name, CODE), 0);
  });

test('five million outputs of 5,000 tasks are counted, and those beyond the share of the heap have no accounts', async (t) => {
  const series = await attack(t, [buildOutputsListing(5000)]);
  assert.equal(sumSeries(series, CATALOGUE.listingTasks.name, CODE), 5000);
  assert.ok(hasSurplus(series, 'task'));
});

test('eight service codes with 200,000 new tasks each per poll share the accounts of the process', async (t) => {
  const codes = Array.from({ length: 8 }, (_, index) => `HOSTILE-${index}`);
  const taskCount = 200_000;
  const polls = new Map<string, number>();
  const url = await serveCodes(t, (serviceCode, response) => {
    if (serviceCode === 'HEALTHY') {
      response.end(HEALTHY_LISTING);
      return;
    }
    const poll = (polls.get(serviceCode) ?? 0) + 1;
    polls.set(serviceCode, poll);
    const listing = buildTasksWithNewIds(`${serviceCode}-${poll}`, taskCount);
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(listing);
  });
  await using exporter = await AttackedExporter.start({
    XVS_UPSTREAM_BASE_URL: url,
    XVS_SERVICE_CODES: ['HEALTHY', ...codes].join(','),
    XVS_POLL_INTERVAL: '4s',
  });
  const series = await waitUntil(
    async () => parseSeries((await exporter.get()).body),
    (scraped) => codes.every((code) => sumSeries(scraped, CATALOGUE.polls.name, code) >= 5),
  );
  for (const code of codes) {
    assert.equal(sumSeries(series, CATALOGUE.up.name, code), 1);
    assert.equal(sumSeries(series, CATALOGUE.listingTasks.name, code), taskCount);
    assert.equal(sumSeries(series, CATALOGUE.tasks.name, code), taskCount);
  }
  assert.equal(selectSeries(series, CATALOGUE.listingSurplus.name, 'HEALTHY').size, 0);
  assert.ok(exporter.program.peakRssMiB < MAX_RSS_MIB, `${exporter.program.peakRssMiB} MiB`);
});
