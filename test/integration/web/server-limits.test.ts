import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { respond } from '../../../src/web/http-messages.ts';
import { isLinux } from '../../support/linux.ts';
import { waitForValue } from '../../support/wait-until.ts';
import { requestOverHttp, SERVER_CERTIFICATE, startSecuredServer } from '../../unit/web/secured-server.ts';
import { definePipeliningTests } from './pipelining.ts';

const HOST = '127.0.0.1';
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x');

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function openConnection(port: number): Promise<Socket> {
  const socket = connect({ host: HOST, port }).on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

function openConnections(port: number, count: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: count }, () => openConnection(port)));
}

/** Starts a server that sends a body, and counts the responses. */
async function startSending(t: TestContext, createBody: () => Buffer | string) {
  const sent = { count: 0 };
  const secured = await startSecuredServer(t, '', {
    handle: () => {
      sent.count += 1;
      return Promise.resolve(respond(200, createBody(), 'text/plain'));
    },
  });
  /** Sends a request and reads nothing of its response. */
  const stall = async (socket: Socket): Promise<void> => {
    const expected = sent.count + 1;
    socket.pause().write(REQUEST);
    await waitForValue(() => sent.count, expected);
  };
  return { ...secured, stall };
}

test('a client that does not read its response is disconnected after a minute', async (t) => {
  const { port, clock, metrics, stall } = await startSending(t, () => LARGE);
  const slow = await openConnection(port);
  await stall(slow);
  clock.advance(59_999);
  assert.equal((await requestOverHttp(port)).status, 200);
  assert.deepEqual(metrics.closed, []);
  clock.advance(1);
  const closed = once(slow, 'close');
  assert.equal((await requestOverHttp(port)).status, 200);
  slow.resume();
  await closed;
  assert.ok(slow.bytesRead < LARGE.length);
  assert.deepEqual(metrics.closed, ['slow_client']);
});

test('responses that clients do not read hold at most 128 MiB: the client with the most is disconnected', async (t) => {
  if (!isLinux(t, '127.0.0.2')) return;
  let letter = 0x61;
  const { port, metrics, stall } = await startSending(t, () => Buffer.alloc(LARGE.length, (letter += 1)));
  const patient = connect({ host: HOST, port, localAddress: '127.0.0.2' });
  const slow = await openConnections(port, 4);
  for (const socket of [patient, ...slow]) await stall(socket);
  const closed = once(slow[0] ?? patient, 'close');
  slow[0]?.resume();
  await closed;
  assert.deepEqual([metrics.closed, patient.destroyed], [['slow_client'], false]);
  for (const socket of [patient, ...slow]) socket.destroy();
});

test('clients that do not read equal responses share one copy: none is disconnected', async (t) => {
  const { port, metrics, stall } = await startSending(t, () => Buffer.alloc(LARGE.length, 'x'));
  const slow = await openConnections(port, 20);
  for (const socket of slow) await stall(socket);
  assert.equal((await requestOverHttp(port)).status, 200);
  assert.deepEqual(metrics.closed, []);
  for (const socket of slow) socket.destroy();
});

test('a TLS handshake has ten seconds, whatever its client sends meanwhile', async (t) => {
  const { port } = await startSecuredServer(t, `tls_server_config: { ${SERVER_CERTIFICATE} }`);
  const startedMs = performance.now();
  const [silent, slow] = await Promise.all([openConnection(port), openConnection(port)]);
  // The header of a record of 512 bytes, then one byte at a time.
  slow.write(Buffer.from([22, 3, 1, 2, 0]));
  const trickle = setInterval(() => slow.write(Buffer.from([1])), 500);
  slow.once('close', () => clearInterval(trickle));
  await Promise.all([once(silent, 'close'), once(slow, 'close')]);
  const elapsedMs = performance.now() - startedMs;
  assert.ok(elapsedMs >= 9_900, `closed after ${elapsedMs} ms`);
});

definePipeliningTests('http');

test('a request body is not read', async (t) => {
  const { port } = await startSecuredServer(t, '');
  const socket = await openConnection(port);
  socket.write('POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*Connection: close\r\n/);
});
