import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { createListingBody } from '../../bench/listing-body.ts';
import { SHIPPED } from '../../support/shipped.ts';
import { waitForValue } from '../../support/wait-until.ts';
import { certificateFolder, SERVER_CERTIFICATE } from '../../unit/web/secured-server.ts';
import { serveHttp } from '../../support/servers.ts';
import { AttackedExporter } from './attacked-exporter.ts';

/** With this number of tasks, the exposition has 11 MB. */
const TASKS = 12_000;
/**
 * The exporter closes connections whose response is not read within a minute: it has to write all of them in
 * that time.
 */
const SLOW_READERS = 5;
/** Unlike that of all codes, it changes only with a poll. */
const PATH = '/metrics?service_code=TESTING';

async function readLength(response: IncomingMessage): Promise<number> {
  let length = 0;
  for await (const chunk of response) length += (chunk as Buffer).length;
  return length;
}

test('slow readers of a large exposition over TLS share it and block no other scrape', async (t) => {
  const webFile = join(certificateFolder(t), 'web.yml');
  writeFileSync(webFile, `tls_server_config: { ${SERVER_CERTIFICATE} }`);
  const body = createListingBody(0, TASKS);
  const url = await serveHttp(t, (_request, response) => response.end(body));
  await using exporter = await AttackedExporter.start({
    XVS_UPSTREAM_BASE_URL: url,
    XVS_POLL_INTERVAL: '1h',
    XVS_METRICS_PER_TASK: 'true',
    XVS_METRICS_MAX_TASKS: String(TASKS),
    XVS_WEB_CONFIG_FILE: webFile,
  });
  /** Sends a request on a connection of its own. */
  const get = async (path: string, encoding = 'identity'): Promise<IncomingMessage> => {
    const options = {
      host: '127.0.0.1',
      port: exporter.port,
      path,
      agent: false,
      rejectUnauthorized: false,
      headers: { 'accept-encoding': encoding },
    };
    const sent = request(options).end();
    const [response]: unknown[] = await once(sent, 'response');
    return response as IncomingMessage;
  };
  await waitForValue(async () => (await get('/-/ready')).resume().statusCode, 200);
  for (const encoding of ['identity', 'gzip', 'identity', 'gzip'])
    await readLength(await get(PATH, encoding));
  // A response that is not read fills the buffers of the connection; the rest waits in the exporter.
  const slow = await Promise.all(Array.from({ length: SLOW_READERS }, () => get(PATH)));
  t.after(() => slow.forEach((response) => response.destroy()));
  assert.deepEqual(new Set(slow.map(({ statusCode }) => statusCode)), new Set([200]));
  for (const encoding of ['identity', 'gzip']) {
    const response = await get(PATH, encoding);
    assert.equal(response.statusCode, 200);
    assert.equal(await readLength(response), Number(response.headers['content-length']));
    if (encoding === 'identity') assert.ok(Number(response.headers['content-length']) > 11e6);
  }
  t.diagnostic(`resident memory at most ${exporter.program.peakRssMiB.toFixed(0)} MiB`);
  assert.ok(exporter.program.peakRssMiB < SHIPPED.memoryMiB, `${exporter.program.peakRssMiB} MiB`);
  // Copies for four readers would exceed the limit of unread responses, and the others would lose theirs.
  for (const response of slow)
    assert.equal(await readLength(response), Number(response.headers['content-length']));
});
