import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent, request as requestTls } from 'node:https';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createListingBody } from '../../bench/listing-body.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { certificateFolder, SERVER_CERTIFICATE } from '../../unit/web/secured-server.ts';

const HOST = '127.0.0.1';
/** With this number of tasks, the exposition has 11 MB. */
const TASKS = 12_000;
const SLOW_READERS = 12;
/** Enough for a few versions of the exposition. A copy for each reader would need twice as much. */
const MAX_GROWTH_MB = 64;

async function serveListing(t: TestContext): Promise<string> {
  const body = createListingBody(0, TASKS);
  const server = createServer((_request, response) => response.end(body)).listen(0, HOST);
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  return `http://${HOST}:${typeof address === 'object' ? address?.port : ''}`;
}

function startExporter(baseUrl: string, args: readonly string[]): Program {
  return startProgram([`--web.listen-address=${HOST}:0`, ...args], {
    XVS_UPSTREAM_BASE_URL: baseUrl,
    XVS_SERVICE_CODES: 'A',
    XVS_SECRET: 'abc',
    XVS_POLL_INTERVAL: '1h',
    XVS_METRICS_PER_TASK: 'true',
    XVS_METRICS_MAX_TASKS: String(TASKS),
  });
}

function getRssMb(pid: number | undefined): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kibibytes) * 1024) / 1e6;
}

type Get = (path: string, encoding?: string) => Promise<IncomingMessage>;

/** Sends requests, each on a separate connection. */
function createGet(port: number, isTls: boolean): Get {
  return async (path, encoding = 'identity') => {
    const options: RequestOptions = { host: HOST, port, path, headers: { 'accept-encoding': encoding } };
    const sent = isTls
      ? requestTls({ ...options, agent: new Agent({ rejectUnauthorized: false }) })
      : request({ ...options, agent: false });
    const [response]: unknown[] = await once(sent.end(), 'response');
    return response as IncomingMessage;
  };
}

async function readLength(response: IncomingMessage): Promise<number> {
  let length = 0;
  for await (const chunk of response) length += (chunk as Buffer).length;
  return length;
}

for (const scheme of ['http', 'https'] as const) {
  test(
    `${SLOW_READERS} slow readers of a large exposition over ${scheme} share it and block no other scrape`,
    { timeout: 600_000 },
    async (t) => {
      const isTls = scheme === 'https';
      const webFile = join(certificateFolder(t), 'web.yml');
      writeFileSync(webFile, `tls_server_config: { ${SERVER_CERTIFICATE} }`);
      const args = isTls ? [`--web.config.file=${webFile}`] : [];
      await using exporter = startExporter(await serveListing(t), args);
      const get = createGet(await exporter.waitForPort(), isTls);
      await waitUntil(
        async () => (await get('/-/ready')).resume().statusCode,
        (status) => status === 200,
      );
      for (const encoding of ['identity', 'gzip', 'identity', 'gzip'])
        await readLength(await get('/metrics', encoding));
      const rssMb = getRssMb(exporter.pid);
      const slow: IncomingMessage[] = [];
      // A response that is not read fills the buffers of the connection; the rest waits in the exporter.
      for (let reader = 0; reader < SLOW_READERS; reader += 1) slow.push(await get('/metrics'));
      t.after(() => slow.forEach((response) => response.destroy()));
      assert.deepEqual(new Set(slow.map(({ statusCode }) => statusCode)), new Set([200]));
      for (const encoding of ['identity', 'gzip']) {
        const response = await get('/metrics', encoding);
        assert.equal(response.statusCode, 200);
        assert.equal(await readLength(response), Number(response.headers['content-length']));
        if (encoding === 'identity') assert.ok(Number(response.headers['content-length']) > 11e6);
      }
      const growthMb = getRssMb(exporter.pid) - rssMb;
      t.diagnostic(`resident memory: ${rssMb.toFixed(0)} MB, then ${growthMb.toFixed(0)} MB more`);
      assert.ok(growthMb < MAX_GROWTH_MB, `${growthMb} MB`);
      assert.deepEqual(
        slow.filter(({ destroyed }) => destroyed),
        [],
      );
    },
  );
}
