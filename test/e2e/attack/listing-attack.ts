import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { serveHttp } from '../../support/servers.ts';
import { parseSeries, sumSeries, type Series } from '../../support/series.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { AttackedExporter } from './attacked-exporter.ts';
import { buildNamesakesListing } from './hostile-service.ts';

export const CODE = 'HOSTILE';
/**
 * The heap, its young generation, buffers and the reader, beyond what the process takes for a small listing.
 */
const MAX_GROWTH_MIB = 400;
export const SMALL_LISTING = JSON.stringify({
  ret: 0,
  user_list: [],
  task_list: [{ id: 't', vs_id: 'v', input_bytes: 5, inputs: [], outputs: [] }],
});

interface Outcome {
  readonly series: Series;
  readonly peakRssMiB: number;
}

/** Runs the program until it has read each listing in turn and the last one again, after a scrape. */
async function readListings(
  t: TestContext,
  listings: readonly Buffer[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
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
  return { series, peakRssMiB: exporter.program.peakRssMiB };
}

let small: Promise<Outcome> | undefined;

/** Asserts that a process has taken bounded memory more than one that reads a small listing. */
export async function assertBoundedMemory(t: TestContext, peakRssMiB: number): Promise<void> {
  small ??= readListings(t, [gzipSync(SMALL_LISTING)]);
  const growthMiB = peakRssMiB - (await small).peakRssMiB;
  t.diagnostic(`${growthMiB.toFixed(0)} MiB more than for a small listing`);
  assert.ok(growthMiB < MAX_GROWTH_MIB, `${growthMiB} MiB`);
}

/** Runs the program with hostile listings, and returns its series. */
export async function attack(
  t: TestContext,
  listings: readonly Buffer[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Series> {
  const { series, peakRssMiB } = await readListings(t, listings, settings);
  await assertBoundedMemory(t, peakRssMiB);
  return series;
}

/** A new counter is exposed at 0 for 90 seconds. */
export function hasSurplus(series: Series, item: string): boolean {
  return series.has(`${CATALOGUE.listingSurplus.name}{service_code="${CODE}",item="${item}"}`);
}

/**
 * Asserts that many tasks of one expected name, with these input bytes in each listing, are a task that is
 * down.
 */
export async function assertNamesakesDown(t: TestContext, inputBytes: readonly number[]): Promise<void> {
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
}
