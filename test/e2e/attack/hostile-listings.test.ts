import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { parseSeries, selectSeries, sumSeries } from '../../support/series.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { AttackedExporter } from './attacked-exporter.ts';
import { buildTasksWithNewIds, buildVersionsListing, serveCodes } from './hostile-service.ts';
import {
  assertBoundedMemory,
  assertNamesakesDown,
  attack,
  CODE,
  hasSurplus,
  SMALL_LISTING,
} from './listing-attack.ts';

const MILLION = 1_000_000;

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

test('140,000 stalled tasks of one expected name are a task that is down', async (t) => {
  await assertNamesakesDown(t, [0, 1]);
});

test('eight service codes with 200,000 new tasks each per poll share the accounts of the process', async (t) => {
  const codes = Array.from({ length: 8 }, (_, index) => `HOSTILE-${index}`);
  const taskCount = 200_000;
  const polls = new Map<string, number>();
  const url = await serveCodes(t, (serviceCode, response) => {
    if (serviceCode === 'HEALTHY') {
      response.end(SMALL_LISTING);
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
    (scraped) => codes.every((code) => sumSeries(scraped, CATALOGUE.polls.name, code) >= 3),
  );
  for (const code of codes) {
    assert.equal(sumSeries(series, CATALOGUE.up.name, code), 1);
    assert.equal(sumSeries(series, CATALOGUE.listingTasks.name, code), taskCount);
    assert.equal(sumSeries(series, CATALOGUE.tasks.name, code), taskCount);
  }
  assert.equal(selectSeries(series, CATALOGUE.listingSurplus.name, 'HEALTHY').size, 0);
  await assertBoundedMemory(t, exporter.program.peakRssMiB);
});
