import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { respond } from '../../src/web/response.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readResponse, startSecuredServer } from './secured-server.ts';

const HOST = '127.0.0.1';
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x');

const requestOnce = (port: number) => readResponse(request({ host: HOST, port, agent: false }).end());

async function openConnection(port: number): Promise<Socket> {
  const socket = connect({ host: HOST, port }).on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

test('connections above the limit are dropped and logged once per minute', async (t) => {
  const { port, lines, clock } = await startSecuredServer(t, '', { maxConnections: 2 });
  const held = [await openConnection(port), await openConnection(port)];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const dropped = connect({ host: HOST, port }).on('error', () => undefined);
    await once(dropped.resume(), 'close');
  }
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['Connection limit reached; dropping new connections'],
  );
  clock.advance(60_000);
  await once(connect({ host: HOST, port }).resume(), 'close');
  assert.equal(lines.length, 2);
  for (const socket of held) socket.destroy();
  await waitUntil(
    () => requestOnce(port).catch(() => undefined),
    (response) => response?.status === 200,
  );
});

test('headers above 16 KiB get a 431', async (t) => {
  const { port } = await startSecuredServer(t, '');
  const headers = { 'x-long': 'x'.repeat(17 * 1024) };
  const { status } = await readResponse(request({ host: HOST, port, headers, agent: false }).end());
  assert.equal(status, 431);
});

test('a client that does not read its response is disconnected after a minute', async (t) => {
  const { port, clock } = await startSecuredServer(t, '', {
    maxRequests: 1,
    handle: () => Promise.resolve(respond(200, LARGE, 'text/plain')),
  });
  const slow = await openConnection(port);
  slow.pause();
  slow.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await waitUntil(
    () => clock.sleeperCount,
    (sleepers) => sleepers === 1,
  );
  assert.equal((await requestOnce(port)).status, 503);
  const closed = once(slow, 'close');
  clock.advance(60_000);
  slow.resume();
  await closed;
  assert.ok(slow.bytesRead < LARGE.length);
  assert.equal((await requestOnce(port)).status, 200);
});

test('unread responses hold at most 128 MiB together', async (t) => {
  const { port, clock } = await startSecuredServer(t, '', {
    handle: () => Promise.resolve(respond(200, Buffer.alloc(LARGE.length), 'text/plain')),
  });
  const slow = await Promise.all([1, 2, 3, 4].map(() => openConnection(port)));
  for (const socket of slow) {
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  }
  await waitUntil(
    () => clock.sleeperCount,
    (sleepers) => sleepers === 4,
  );
  const { status, body } = await requestOnce(port);
  assert.deepEqual([status, body], [503, 'Too many slow clients.\n']);
  for (const socket of slow) socket.destroy();
  await waitUntil(
    () => requestOnce(port),
    (response) => response.status === 200,
  );
});

test('responses to disconnected clients are not counted', async (t) => {
  const entered: (() => void)[] = [];
  const { port } = await startSecuredServer(t, '', {
    handle: async () => {
      await new Promise<void>((resolve) => entered.push(resolve));
      return respond(200, LARGE, 'text/plain');
    },
  });
  for (let scrape = 0; scrape < 6; scrape += 1) {
    const socket = await openConnection(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitUntil(
      () => entered.length,
      (length) => length === scrape + 1,
    );
    socket.destroy();
  }
  const last = requestOnce(port);
  await waitUntil(
    () => entered.length,
    (length) => length === 7,
  );
  for (const resolve of entered) resolve();
  const { status } = await last;
  assert.equal(status, 200);
});

test('a request body is not read', async (t) => {
  const { port } = await startSecuredServer(t, '');
  const socket = await openConnection(port);
  socket.write('POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*Connection: close\r\n/);
});

test('a client that does not finish its headers gets a 408 after ten seconds', async (t) => {
  const { port } = await startSecuredServer(t, '');
  const socket = await openConnection(port);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
  const [first]: unknown[] = await once(socket, 'data');
  assert.match(String(first), /^HTTP\/1\.1 408 Request Timeout\r\n/);
  await once(socket, 'close');
});
