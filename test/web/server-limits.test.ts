import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { respond } from '../../src/web/response.ts';
import { until } from '../support/until.ts';
import { answerTo, startGuarded } from './guarded.ts';

const HOST = '127.0.0.1';
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x');

const ask = (port: number) => answerTo(request({ host: HOST, port, agent: false }).end());

async function connected(port: number): Promise<Socket> {
  const socket = connect({ host: HOST, port }).on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

test('connections beyond the limit are closed at once, with one line in the log', async (t) => {
  const { port, lines, clock } = await startGuarded(t, '', { maxConnections: 2 });
  const held = [await connected(port), await connected(port)];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const refused = connect({ host: HOST, port }).on('error', () => undefined);
    await once(refused.resume(), 'close');
  }
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['Connections refused, there are too many'],
  );
  clock.advance(60_000);
  await once(connect({ host: HOST, port }).resume(), 'close');
  assert.equal(lines.length, 2);
  for (const socket of held) socket.destroy();
  await until(
    () => ask(port).catch(() => undefined),
    (answer) => answer?.status === 200,
  );
});

test('headers beyond 16 KiB are refused', async (t) => {
  const { port } = await startGuarded(t, '');
  const headers = { 'x-much': 'x'.repeat(17 * 1024) };
  const { status } = await answerTo(request({ host: HOST, port, headers, agent: false }).end());
  assert.equal(status, 431);
});

test('a client that does not read its answer is given a minute, and then up', async (t) => {
  const { port, clock } = await startGuarded(t, '', {
    maxRequests: 1,
    handle: () => Promise.resolve(respond(200, LARGE, 'text/plain')),
  });
  const slow = await connected(port);
  slow.pause();
  slow.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(
    () => clock.sleepers,
    (sleepers) => sleepers === 1,
  );
  assert.equal((await ask(port)).status, 503);
  const closed = once(slow, 'close');
  clock.advance(60_000);
  slow.resume();
  await closed;
  assert.ok(slow.bytesRead < LARGE.length);
  assert.equal((await ask(port)).status, 200);
});

test('clients that do not read hold 128 MiB at most, together', async (t) => {
  const { port, clock } = await startGuarded(t, '', {
    handle: () => Promise.resolve(respond(200, LARGE, 'text/plain')),
  });
  const slow = await Promise.all([1, 2, 3, 4].map(() => connected(port)));
  for (const socket of slow) {
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  }
  await until(
    () => clock.sleepers,
    (sleepers) => sleepers === 4,
  );
  const { status, body } = await ask(port);
  assert.deepEqual([status, body], [503, 'Too many clients read their answers too slowly.\n']);
  for (const socket of slow) socket.destroy();
  await until(
    () => ask(port),
    (answer) => answer.status === 200,
  );
});

test('answers that no one waited for are not counted', async (t) => {
  const entered: (() => void)[] = [];
  const { port } = await startGuarded(t, '', {
    handle: async () => {
      await new Promise<void>((resolve) => entered.push(resolve));
      return respond(200, LARGE, 'text/plain');
    },
  });
  for (let scrape = 0; scrape < 6; scrape += 1) {
    const socket = await connected(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(
      () => entered.length,
      (length) => length === scrape + 1,
    );
    socket.destroy();
  }
  const last = ask(port);
  await until(
    () => entered.length,
    (length) => length === 7,
  );
  for (const resolve of entered) resolve();
  const { status } = await last;
  assert.equal(status, 200);
});

test('what comes with a body is answered and not read', async (t) => {
  const { port } = await startGuarded(t, '');
  const socket = await connected(port);
  socket.write('POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*Connection: close\r\n/);
});

test('a client that never ends its headers is told so after ten seconds', async (t) => {
  const { port } = await startGuarded(t, '');
  const socket = await connected(port);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
  const [first]: unknown[] = await once(socket, 'data');
  assert.match(String(first), /^HTTP\/1\.1 408 Request Timeout\r\n/);
  await once(socket, 'close');
});
