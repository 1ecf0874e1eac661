import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { respond } from '../../../src/web/response.ts';
import { readFixture } from '../../support/fixtures.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  readResponse,
  requestOverHttps,
  SERVER_CERTIFICATE,
  startSecuredServer,
} from '../../unit/web/secured-server.ts';

const HOST = '127.0.0.1';
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x');

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

const requestOnce = (port: number) => readResponse(request({ host: HOST, port, agent: false }).end());

async function openConnection(port: number): Promise<Socket> {
  const socket = connect({ host: HOST, port }).on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

function openConnections(port: number, count: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: count }, () => openConnection(port)));
}

test('headers above 16 KiB get a 431', async (t) => {
  const { port } = await startSecuredServer(t, '');
  const headers = { 'x-long': 'x'.repeat(17 * 1024) };
  const { status } = await readResponse(request({ host: HOST, port, headers, agent: false }).end());
  assert.equal(status, 431);
});

test('a client that does not read its response is disconnected after a minute', async (t) => {
  const { port, clock, metrics } = await startSecuredServer(t, '', {
    handle: () => Promise.resolve(respond(200, LARGE, 'text/plain')),
  });
  const slow = await openConnection(port);
  slow.pause();
  slow.write(REQUEST);
  await waitUntil(
    () => clock.sleeperCount,
    (sleepers) => sleepers === 1,
  );
  const closed = once(slow, 'close');
  clock.advance(60_000);
  slow.resume();
  await closed;
  assert.ok(slow.bytesRead < LARGE.length);
  assert.deepEqual(metrics.closed, ['slow_client']);
});

test('clients that read slowly do not count as concurrent requests', async (t) => {
  const { port, clock } = await startSecuredServer(t, '', {
    maxRequests: 1,
    handle: () => Promise.resolve(respond(200, LARGE, 'text/plain')),
  });
  const slow = await openConnections(port, 3);
  for (const [index, socket] of slow.entries()) {
    socket.pause();
    socket.write(REQUEST);
    await waitUntil(
      () => clock.sleeperCount,
      (sleepers) => sleepers === index + 1,
    );
  }
  assert.equal((await requestOnce(port)).status, 200);
  for (const socket of slow) socket.destroy();
});

test('responses that clients do not read hold at most 128 MiB: the client with the most is disconnected', async (t) => {
  const { port, clock, metrics } = await startSecuredServer(t, '', {
    handle: () => Promise.resolve(respond(200, Buffer.alloc(LARGE.length), 'text/plain')),
  });
  const patient = connect({ host: HOST, port, localAddress: '127.0.0.2' });
  const slow = await openConnections(port, 4);
  const closed = Promise.all(slow.slice(0, 1).map((socket) => once(socket, 'close')));
  for (const [index, socket] of [patient, ...slow].entries()) {
    socket.pause();
    socket.write(REQUEST);
    await waitUntil(
      () => clock.sleeperCount,
      (sleepers) => sleepers === Math.min(index + 1, 4),
    );
  }
  slow[0]?.resume();
  await closed;
  assert.deepEqual([metrics.closed, patient.destroyed], [['slow_client'], false]);
  assert.equal((await requestOnce(port)).status, 200);
  for (const socket of [patient, ...slow]) socket.destroy();
});

test('responses that share one body hold its bytes once', async (t) => {
  const { port, clock, metrics } = await startSecuredServer(t, '', {
    handle: () => Promise.resolve(respond(200, LARGE, 'text/plain')),
  });
  const slow = await openConnections(port, 8);
  for (const socket of slow) {
    socket.pause();
    socket.write(REQUEST);
  }
  await waitUntil(
    () => clock.sleeperCount,
    (sleepers) => sleepers === 8,
  );
  assert.equal((await requestOnce(port)).status, 200);
  assert.deepEqual(metrics.closed, []);
  for (const socket of slow) socket.destroy();
});

for (const yml of ['', `tls_server_config: { ${SERVER_CERTIFICATE} }`]) {
  test(`over ${yml === '' ? 'HTTP' : 'HTTPS'}, nothing is read while a pipelined request waits`, async (t) => {
    const entered: (() => void)[] = [];
    const { port } = await startSecuredServer(t, yml, {
      handle: async ({ url }) => {
        if (url === '/held') await new Promise<void>((resolve) => entered.push(resolve));
        return respond(200, url, 'text/plain');
      },
    });
    const socket =
      yml === ''
        ? connect({ host: HOST, port })
        : connectTls({ host: HOST, port, ca: readFixture('tls/ca.pem'), servername: 'localhost' });
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.on('error', () => undefined);
    const held = REQUEST.replace('/ ', '/held ');
    socket.write(held.repeat(2));
    await waitUntil(
      () => entered.length,
      (length) => length === 1,
    );
    // The server would answer it with a 400 as soon as it reads it.
    socket.write('nonsense\r\n\r\n');
    const other = yml === '' ? requestOnce : requestOverHttps;
    for (let index = 0; index < 3; index += 1) assert.equal((await other(port)).status, 200);
    assert.deepEqual([socket.destroyed, received], [false, '']);
    for (const expected of [1, 2]) {
      await waitUntil(
        () => entered.length,
        (length) => length === 1,
      );
      entered.shift()?.();
      await waitUntil(
        () => received.split('/held').length - 1,
        (count) => count === expected,
      );
    }
    if (!socket.closed) await once(socket, 'close');
    assert.match(received, /HTTP\/1\.1 400 Bad Request/);
  });
}

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
