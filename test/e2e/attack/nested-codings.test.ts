import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseExposition } from '../../support/exposition-parser.ts';
import { startProgram } from '../../support/program.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openClient, targetAt } from '../../unit/upstream/collect-listing.ts';
import { serveHttp } from '../../unit/upstream/servers.ts';
import { BOMB } from './hostile-service.ts';

const MIB = 1024 * 1024;
const HOSTILE_CODES = Array.from({ length: 8 }, (_, index) => `HOSTILE-${index}`);
const MAX_RSS_MIB = 512;

function readRssMiB(pid: number | undefined): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

test('decoding stops when the request has ended', async (t) => {
  const url = await serveHttp(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(BOMB);
  });
  const ended = new AbortController();
  const reason = new Error('ended');
  let chunks = 0;
  const onBody = (): void => {
    chunks += 1;
    ended.abort(reason);
  };
  const client = openClient(t, { maxResponseBytes: 1024 * MIB });
  await assert.rejects(client.requestListing(targetAt(url), onBody, ended.signal), reason);
  assert.equal(chunks, 1);
});

test(
  'eight codes whose bodies expand without end do not affect a ninth one',
  { timeout: 600_000 },
  async (t) => {
    const url = await serveHttp(t, (request, response) => {
      if (request.url?.includes('HOSTILE') === true)
        response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(BOMB);
      else response.end('{"ret":0,"user_list":[],"task_list":[]}');
    });
    await using exporter = startProgram(['--web.listen-address=127.0.0.1:0'], {
      XVS_UPSTREAM_BASE_URL: url,
      XVS_SERVICE_CODES: ['HEALTHY', ...HOSTILE_CODES].join(','),
      XVS_SECRET: 'abc',
      XVS_UPSTREAM_TIMEOUT: '30s',
      XVS_UPSTREAM_MAX_RESPONSE_SIZE: '64MiB',
      XVS_POLL_INTERVAL: '2s',
    });
    const port = await exporter.waitForPort();
    let peakRssMiB = 0;
    const { families } = await waitUntil(
      async () => {
        peakRssMiB = Math.max(peakRssMiB, readRssMiB(exporter.pid));
        const response = await fetch(`http://127.0.0.1:${port}/metrics`);
        return parseExposition(await response.text(), 'text');
      },
      ({ families: scraped }) =>
        HOSTILE_CODES.every((code) => countErrors(scraped, code).size > 0) &&
        readValue(scraped, 'xvs_exporter_polls_total', 'HEALTHY') >= 2,
    );
    assert.equal(readValue(families, 'xvs_up', 'HEALTHY'), 1);
    assert.deepEqual([...countErrors(families, 'HEALTHY')], []);
    for (const code of HOSTILE_CODES)
      assert.deepEqual([...countErrors(families, code).keys()], ['too_large']);
    assert.ok(readValue(families, 'xvs_exporter_pending_response_bytes') <= HOSTILE_CODES.length * 64 * MIB);
    assert.ok(peakRssMiB < MAX_RSS_MIB, `${peakRssMiB} MiB`);
  },
);

type Families = ReturnType<typeof parseExposition>['families'];

function readValue(families: Families, name: string, serviceCode?: string): number {
  const samples = families.get(name)?.samples ?? [];
  return samples.find(({ labels }) => labels['service_code'] === serviceCode)?.value ?? Number.NaN;
}

/** Failed polls of a service code by reason, without zeros. */
function countErrors(families: Families, serviceCode: string): ReadonlyMap<string, number> {
  const samples = families.get('xvs_exporter_poll_errors_total')?.samples ?? [];
  return new Map(
    samples
      .filter(({ labels, value }) => labels['service_code'] === serviceCode && value > 0)
      .map(({ labels, value }) => [labels['reason'] ?? '', value]),
  );
}
