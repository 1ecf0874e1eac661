import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { readIdentity } from '../../support/fixtures.ts';
import { buildKeyUpdates, CIPHER, parseTrafficSecret, TlsTransport } from '../../support/key-updates.ts';
import { listen } from '../../support/servers.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { certificateFolder, SERVER_CERTIFICATE } from '../../unit/web/secured-server.ts';
import { AttackedExporter, formatRequest, nextEvent } from './attacked-exporter.ts';

/** As many as a connection may send between two requests: each changes the keys of both sides. */
const FEW = 16;
/** Without a limit, these take a second of CPU time, most of it in one turn. */
const MANY = 10_000;
const ATTACKERS = 6;
/** Of 6,000 without a limit. */
const MAX_CPU_MS = 1000;

const LISTING = '{"ret":0,"user_list":[],"task_list":[]}';
const RESPONSE = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${LISTING.length}\r\n\r\n${LISTING}`;

/** Opens a TLS connection whose keys the test knows. */
async function openTls(exporter: AttackedExporter) {
  const transport = new TlsTransport(await exporter.open());
  let secret: Buffer = Buffer.alloc(0);
  const socket = connectTls({ socket: transport, rejectUnauthorized: false, ciphers: CIPHER });
  socket.on('error', () => undefined);
  socket.on('keylog', (line) => {
    secret = parseTrafficSecret(line, 'CLIENT_TRAFFIC_SECRET_0') ?? secret;
  });
  await once(socket, 'secureConnect');
  return { socket, raw: transport.raw, secret };
}

/** Sends a request and returns the start of its response. */
async function scrape(socket: TLSSocket, send: () => void): Promise<string> {
  const received = once(socket, 'data');
  send();
  const [chunk]: unknown[] = await received;
  return String(chunk);
}

test(
  'clients that change TLS keys without requests take no time of scrapes',
  { timeout: 300_000 },
  async (t) => {
    const folder = certificateFolder(t);
    writeFileSync(join(folder, 'web.yml'), `tls_server_config: { ${SERVER_CERTIFICATE} }`);
    await using exporter = await AttackedExporter.start({ XVS_WEB_CONFIG_FILE: join(folder, 'web.yml') });
    const starts = ['', formatRequest('/-/healthy'), 'GET /metrics HTTP/1.1\r\nHost:'];
    const attackers = await Promise.all(
      Array.from({ length: ATTACKERS }, async (_, index) => {
        const { socket, raw, secret } = await openTls(exporter);
        const start = starts[index % starts.length] ?? '';
        if (start.endsWith('\r\n\r\n')) await scrape(socket, () => socket.write(start));
        else if (start !== '') socket.write(start);
        return { raw, records: buildKeyUpdates(secret, start === '' ? 0 : 1, MANY) };
      }),
    );
    const beforeMs = exporter.program.cpuMs;
    for (const { raw, records } of attackers) raw.write(records);
    await Promise.all(attackers.map(({ raw }) => nextEvent(raw, 'close')));
    const usedMs = exporter.program.cpuMs - beforeMs;
    t.diagnostic(`${usedMs} ms of CPU time`);
    assert.ok(usedMs < MAX_CPU_MS, `${usedMs} ms`);
    const { socket, raw, secret } = await openTls(exporter);
    const request = buildKeyUpdates(secret, 0, FEW, formatRequest('/-/metrics'));
    let metrics = await scrape(socket, () => raw.write(request));
    socket.on('data', (chunk: Buffer) => (metrics += chunk.toString()));
    await waitUntil(
      () => /web_connections_closed_total\{reason="key_updates"\} (\d+)/.exec(metrics)?.[1],
      (count) => count === String(ATTACKERS),
      10_000,
    );
  },
);

/** Starts a service that updates the keys before each response and then ends it, and returns its port. */
async function startService(t: TestContext): Promise<number> {
  const options = { ...readIdentity('server'), ciphers: CIPHER };
  const server = createServer((raw) => {
    const transport = new TlsTransport(raw);
    let secret: Buffer = Buffer.alloc(0);
    const socket = new TLSSocket(transport, { ...options, isServer: true });
    socket.on('error', () => undefined);
    socket.on('keylog', (line) => {
      secret = parseTrafficSecret(line, 'SERVER_TRAFFIC_SECRET_0') ?? secret;
    });
    socket.on('data', (request: Buffer) => {
      const count = request.includes('HOSTILE') ? MANY : FEW;
      raw.end(buildKeyUpdates(secret, transport.sentRecords, count, RESPONSE));
    });
  });
  return await listen(t, server);
}

test('a service that changes TLS keys within a response fails its own polls only', async (t) => {
  const hostile = Array.from({ length: ATTACKERS }, (_, index) => `HOSTILE-${index}`);
  await using exporter = await AttackedExporter.start({
    XVS_UPSTREAM_BASE_URL: `https://127.0.0.1:${await startService(t)}`,
    XVS_UPSTREAM_CA_FILE: join(certificateFolder(t), 'ca.pem'),
    XVS_SERVICE_CODES: [...hostile, 'HONEST'].join(','),
    XVS_POLL_INTERVAL: '5s',
  });
  const beforeMs = exporter.program.cpuMs;
  const hasFailed = (metrics: string, code: string): boolean =>
    new RegExp(String.raw`poll_errors_total\{service_code="${code}",reason="tls"\} [1-9]`).test(metrics);
  await waitUntil(
    async () => (await exporter.get()).body,
    (metrics) =>
      hostile.every((code) => hasFailed(metrics, code)) &&
      metrics.includes('xvs_up{service_code="HONEST"} 1'),
    60_000,
  );
  const usedMs = exporter.program.cpuMs - beforeMs;
  t.diagnostic(`${usedMs} ms of CPU time`);
  assert.ok(usedMs < MAX_CPU_MS, `${usedMs} ms`);
});
