import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { waitForValue } from '../../support/wait-until.ts';
import { SHIPPED } from '../../support/shipped.ts';
import { ATTACKER_ADDRESS, AttackedExporter, ROUNDS } from './attacked-exporter.ts';
import { buildTasksListing, serveCodes } from './hostile-service.ts';

const CODES = Array.from({ length: 100 }, (_, index) => `CODE-${index}`);
/** Each exposition of one code has about 0.3 MB. */
const TASKS = 300;
const CONNECTIONS = 110;

/** Scrapes one code after the other, gzipped and plain, without reading more than the headers of a response. */
async function scrapeDistinct(exporter: AttackedExporter, from: number, signal: AbortSignal): Promise<void> {
  for (let turn = from; !signal.aborted; turn += 1) {
    await new Promise<void>((resolve) => {
      request({
        host: '127.0.0.1',
        port: exporter.port,
        localAddress: ATTACKER_ADDRESS,
        agent: false,
        path: `/metrics?service_code=${CODES[turn % CODES.length]}`,
        headers: turn % 2 === 0 ? { 'accept-encoding': 'gzip' } : { accept: 'application/openmetrics-text' },
      })
        .once('response', (response) => void delay(100).then(() => response.destroy()))
        .on('error', () => undefined)
        .once('close', resolve)
        .end();
    });
  }
}

test(
  'scrapes of many different bodies take bounded memory and lock out no scraper',
  { timeout: 600_000 },
  async (t) => {
    const url = await serveCodes(t, (serviceCode, response) =>
      response.end(buildTasksListing(serviceCode, TASKS)),
    );
    await using exporter = await AttackedExporter.start({
      XVS_UPSTREAM_BASE_URL: url,
      XVS_SERVICE_CODES: CODES.join(','),
      XVS_METRICS_PER_TASK: 'true',
      XVS_METRICS_MAX_TASKS: String(TASKS),
    });
    await waitForValue(async () => (await exporter.get({ path: '/-/ready' })).status, 200);
    const stopped = new AbortController();
    const attacks = Array.from({ length: CONNECTIONS }, (_, index) =>
      scrapeDistinct(exporter, index, stopped.signal),
    );
    const statuses = [];
    for (let scrape = 0; scrape < 10 * ROUNDS; scrape += 1) {
      const { status } = await exporter.get({
        path: `/metrics?service_code=${CODES[scrape % CODES.length]}`,
      });
      const probe = await exporter.get({ path: '/-/healthy', localAddress: ATTACKER_ADDRESS });
      statuses.push(status, probe.status);
    }
    stopped.abort();
    const { peakRssMiB } = exporter;
    t.diagnostic(`resident memory at most ${peakRssMiB.toFixed(0)} MiB`);
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.ok(peakRssMiB < SHIPPED.memoryMiB, `${peakRssMiB} MiB`);
    await exporter.program[Symbol.asyncDispose]();
    await Promise.all(attacks);
  },
);
