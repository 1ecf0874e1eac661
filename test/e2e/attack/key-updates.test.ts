import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { readIdentity } from '../../support/fixtures.ts';
import {
  buildKeyUpdates,
  CIPHER,
  KEY_UPDATE_BYTES,
  parseTrafficSecret,
  TlsTransport,
} from '../../support/key-updates.ts';
import { listen, waitForEvent } from '../../support/servers.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { certificateFolder, SERVER_CERTIFICATE } from '../../unit/web/secured-server.ts';
import { AttackedExporter, formatRequest } from './attacked-exporter.ts';

/** As many as a connection may send between two requests: each changes the keys of both sides. */
const FEW = 16;
/** Two reads of Node.js, which reads up to 64 KiB at once. */
const MANY = Math.ceil((2 * 65_536) / KEY_UPDATE_BYTES);
const ATTACKERS = 6;
/**
 * OpenSSL processes the rest of a read although the connection has ended. Without a limit, there are twice as
 * many.
 */
const MAX_CHANGES = 1.5 * MANY;

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
  await waitForEvent(socket, 'secureConnect');
  return { socket, raw: transport.raw, secret };
}

/** Makes Node.js write the keys of each TLS connection to a file in a folder. */
function createKeyLog(folder: string) {
  const path = join(folder, 'keys.log');
  /** The number of keys that the connection with the most changes has changed. */
  const countChanges = (): number => {
    const counts = new Map<string, number>();
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const [label = '', connection = ''] = line.split(' ');
      if (label.endsWith('_TRAFFIC_SECRET_N')) counts.set(connection, (counts.get(connection) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values());
  };
  const assertFewChanges = async (): Promise<void> => {
    // Node.js writes the file some time later.
    const changes = await waitUntil(countChanges, (count) => count > FEW);
    assert.ok(changes < MAX_CHANGES, `${changes} changes of keys`);
  };
  return {
    environment: { NODE_OPTIONS: `--tls-keylog=${JSON.stringify(path)}` },
    countChanges,
    assertFewChanges,
  };
}

test('clients that change TLS keys without requests take no time of scrapes', async (t) => {
  const folder = certificateFolder(t);
  writeFileSync(join(folder, 'web.yml'), `tls_server_config: { ${SERVER_CERTIFICATE} }`);
  const keyLog = createKeyLog(folder);
  await using exporter = await AttackedExporter.start({
    ...keyLog.environment,
    XVS_WEB_CONFIG_FILE: join(folder, 'web.yml'),
  });
  const starts = ['', formatRequest('/-/healthy'), 'GET /metrics HTTP/1.1\r\nHost:'];
  for (const start of starts) {
    const { socket, raw, secret } = await openTls(exporter);
    // Records of the test follow what TLS has sent.
    if (start !== '') await new Promise((resolve) => socket.write(start, resolve));
    if (start.endsWith('\r\n\r\n')) await waitForEvent(socket, 'data');
    raw.write(buildKeyUpdates(secret, start === '' ? 0 : 1, MANY));
    await waitUntil(
      () => raw.closed || keyLog.countChanges() >= MAX_CHANGES,
      (isOver) => isOver,
    );
  }
  const { socket, raw, secret } = await openTls(exporter);
  const request = 'GET /-/metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  raw.write(buildKeyUpdates(secret, 0, FEW, request));
  let metrics = '';
  for await (const chunk of socket) metrics += String(chunk);
  const closed = /web_connections_closed_total\{reason="key_updates"\} (\d+)/.exec(metrics)?.[1];
  assert.equal(closed, String(starts.length), metrics.slice(0, 100));
  await keyLog.assertFewChanges();
});

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
  const folder = certificateFolder(t);
  const keyLog = createKeyLog(folder);
  await using exporter = await AttackedExporter.start({
    ...keyLog.environment,
    XVS_UPSTREAM_BASE_URL: `https://127.0.0.1:${await startService(t)}`,
    XVS_UPSTREAM_CA_FILE: join(folder, 'ca.pem'),
    XVS_SERVICE_CODES: [...hostile, 'HONEST'].join(','),
    XVS_POLL_INTERVAL: '5s',
  });
  const hasFailed = (metrics: string, code: string): boolean =>
    new RegExp(String.raw`poll_errors_total\{service_code="${code}",reason="tls"\} [1-9]`).test(metrics);
  const isUp = (metrics: string, code: string): boolean =>
    metrics.includes(`xvs_up{service_code="${code}"} 1`);
  const metrics = await waitUntil(
    async () => (await exporter.get()).body,
    (found) => isUp(found, 'HONEST') && hostile.every((code) => hasFailed(found, code) || isUp(found, code)),
  );
  assert.deepEqual(
    hostile.filter((code) => !hasFailed(metrics, code)),
    [],
  );
  await keyLog.assertFewChanges();
});
