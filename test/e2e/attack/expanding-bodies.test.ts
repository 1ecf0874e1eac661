import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { parseSeries, sumSeries } from '../../support/series.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { SHIPPED } from '../../support/shipped.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { openClient, targetAt } from '../../unit/upstream/collect-listing.ts';
import { serveHttp } from '../../support/servers.ts';
import { AttackedExporter } from './attacked-exporter.ts';
import { BOMB, HOSTILE_RESPONSES, serveCodes } from './hostile-service.ts';

const MIB = 1024 * 1024;
const ROUNDS = 3;
const SIXTY_CODES = Array.from({ length: 60 }, (_, index) => `HOSTILE-${index}`);

test('decoding stops when the request has ended', async (t) => {
  const url = await serveHttp(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB);
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

for (const [count, name, respond, reason] of [
  [8, 'bodies expand without end', HOSTILE_RESPONSES.expanding, 'too_large'],
  [8, 'responses stay informational without end', HOSTILE_RESPONSES.informational, 'http_status'],
  [60, 'bodies hang within an entry of 16 MiB', HOSTILE_RESPONSES.hanging, 'timeout'],
  [60, 'bodies have a brotli window of 16 MiB', HOSTILE_RESPONSES.brotli, 'not_json'],
] as const) {
  test(`${count} codes whose ${name} do not affect another one`, async (t) => {
    const hostileCodes = SIXTY_CODES.slice(0, count);
    using folder = new TemporaryFolder();
    const timeout = reason === 'timeout' ? { timeout: '10s' } : {};
    const codes = hostileCodes.map((code) => ({ service_code: code, ...timeout }));
    folder.replace('xvs.json', JSON.stringify({ service_codes: [{ service_code: 'HEALTHY' }, ...codes] }));
    const url = await serveCodes(t, (serviceCode, response) => {
      if (serviceCode === 'HEALTHY') response.end('{"ret":0,"user_list":[],"task_list":[]}');
      else respond(response);
    });
    await using exporter = await AttackedExporter.start({
      XVS_UPSTREAM_BASE_URL: url,
      XVS_CONFIG_FILE: folder.at('xvs.json'),
      XVS_SERVICE_CODES: '',
      XVS_UPSTREAM_MAX_RESPONSE_SIZE: '64MiB',
      XVS_POLL_INTERVAL: '2s',
    });
    const { pollErrors, polls, up } = CATALOGUE;
    const series = await waitUntil(
      async () => parseSeries((await exporter.get()).body),
      (scraped) =>
        hostileCodes.every((code) => sumSeries(scraped, pollErrors.name, code) > 0) &&
        sumSeries(scraped, polls.name, 'HEALTHY') >= 2,
    );
    t.diagnostic(`resident memory at most ${exporter.program.peakRssMiB.toFixed(0)} MiB`);
    assert.ok(exporter.program.peakRssMiB < SHIPPED.memoryMiB, `${exporter.program.peakRssMiB} MiB`);
    assert.equal(sumSeries(series, up.name, 'HEALTHY'), 1);
    assert.equal(sumSeries(series, pollErrors.name, 'HEALTHY'), 0);
    for (const code of hostileCodes) {
      const expected = series.get(`${pollErrors.name}{service_code="${code}",reason="${reason}"}`);
      assert.equal(expected, sumSeries(series, pollErrors.name, code));
    }
  });
}

test('sixty codes whose small bodies arrive together leave room for scrapes on new connections', async (t) => {
  const held = new Set<ServerResponse>();
  const url = await serveHttp(t, (_request, response) => {
    held.add(response);
    if (held.size < SIXTY_CODES.length) return;
    for (const one of held) HOSTILE_RESPONSES.busy(one);
    held.clear();
  });
  await using exporter = await AttackedExporter.start({
    XVS_UPSTREAM_BASE_URL: url,
    XVS_SERVICE_CODES: SIXTY_CODES.join(','),
    XVS_POLL_INTERVAL: '1s',
  });
  /** Responses to scrapes between the first body of a round and its last one. */
  let answers = 0;
  for (let failed = 0; failed < ROUNDS * SIXTY_CODES.length;) {
    const series = parseSeries((await exporter.get()).body);
    failed = SIXTY_CODES.reduce((sum, code) => sum + sumSeries(series, CATALOGUE.pollErrors.name, code), 0);
    if (failed % SIXTY_CODES.length !== 0) answers += 1;
  }
  t.diagnostic(`${answers} answers`);
  // Without a limit, a scrape waits for all bodies of its round.
  assert.ok(answers >= ROUNDS, `${answers} answers in ${ROUNDS} rounds`);
});
