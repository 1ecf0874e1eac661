import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type ClientRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { toClientKey } from '../../../src/web/client-address.ts';
import { getIdleTimeoutSeconds } from '../../../src/web/connections.ts';
import { respondText } from '../../../src/web/response.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { HASH, PASSWORD, readResponse, startSecuredServer, type SecuredServer } from './secured-server.ts';

const HOST = '127.0.0.1';
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** Opens a connection from a loopback address and waits until the server has accepted it. */
async function open({ port, metrics }: SecuredServer, localAddress = HOST): Promise<Socket> {
  const before = metrics.connections + metrics.closed.length;
  const socket = connect({ host: HOST, port, localAddress })
    .on('error', () => undefined)
    .resume();
  await once(socket, 'connect');
  await waitUntil(
    () => metrics.connections + metrics.closed.length,
    (count) => count > before,
  );
  return socket;
}

/** Waits until a connection is closed, by a reset or not. */
async function waitForClose(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>((resolve) => void socket.once('close', () => resolve()));
}

/** Opens three connections, one after the other. */
async function openThree(secured: SecuredServer): Promise<[Socket, Socket, Socket]> {
  return [await open(secured), await open(secured), await open(secured)];
}

const send = (port: number, path = '/', localAddress = HOST): ClientRequest =>
  request({ host: HOST, port, path, localAddress, agent: false }).end();

test('above the limit, a new connection replaces the longest idle one, which is logged once per minute', async (t) => {
  const secured = await startSecuredServer(t, '', { maxConnections: 3 });
  const { port, lines, clock, metrics } = secured;
  const [first, ...others] = await openThree(secured);
  // The first one is now the one that became idle last.
  const answered = once(first, 'data');
  first.write(REQUEST);
  await answered;
  await waitUntil(
    () => clock.sleeperCount,
    (sleepers) => sleepers === 0,
  );
  const closed = others.map((socket) => waitForClose(socket));
  for (const expected of [1, 2]) {
    const { status } = await readResponse(send(port));
    assert.equal(status, 200);
    // The connection of the request has closed; open another one in its place.
    await waitUntil(
      () => metrics.connections,
      (count) => count === 2,
    );
    await open(secured);
    assert.equal(metrics.closed.length, expected);
  }
  await Promise.all(closed);
  assert.equal(first.destroyed, false);
  assert.deepEqual(metrics.closed, ['total_limit', 'total_limit']);
  const warnings = () => lines.filter((line) => line.includes('Connection limit reached'));
  assert.equal(warnings().length, 1);
  clock.advance(60_000);
  await readResponse(send(port));
  assert.equal(warnings().length, 2);
});

test('a connection of the client with the most connections is closed first', async (t) => {
  const secured = await startSecuredServer(t, '', { maxConnections: 4 });
  const scraper = await open(secured, '127.0.0.2');
  const hoard = await openThree(secured);
  const closed = waitForClose(hoard[0]);
  assert.equal((await readResponse(send(secured.port, '/', '127.0.0.3'))).status, 200);
  await closed;
  assert.deepEqual(
    [scraper, ...hoard].map(({ destroyed }) => destroyed),
    [false, true, false, false],
  );
});

test('above the limit of its address, a new connection replaces one of the same address', async (t) => {
  const secured = await startSecuredServer(t, '', { maxConnectionsPerAddress: 2 });
  const other = await open(secured, '127.0.0.2');
  const [first, second] = await openThree(secured);
  await waitForClose(first);
  assert.deepEqual([other.destroyed, second.destroyed], [false, false]);
  assert.deepEqual(secured.metrics.closed, ['address_limit']);
});

test('while all connections have requests in progress, a new one serves probes only', async (t) => {
  const held: (() => void)[] = [];
  const { port, metrics } = await startSecuredServer(t, '', {
    maxConnections: 2,
    handle: async ({ url }) => {
      if (url === '/held') await new Promise<void>((resolve) => held.push(resolve));
      return respondText(200, 'hello');
    },
  });
  const busy = [send(port, '/held'), send(port, '/held')].map((outgoing) => readResponse(outgoing));
  await waitUntil(
    () => held.length,
    (length) => length === 2,
  );
  const rejected = await readResponse(send(port));
  assert.deepEqual(
    [rejected.status, rejected.body, rejected.headers.connection],
    [503, 'Too many connections.\n', 'close'],
  );
  const probe = await readResponse(send(port, '/-/healthy'));
  assert.deepEqual([probe.status, probe.headers.connection], [200, 'close']);
  for (const resolve of held) resolve();
  assert.deepEqual(
    (await Promise.all(busy)).map(({ status }) => status),
    [200, 200],
  );
  assert.deepEqual([metrics.rejected, metrics.closed], [['max_connections'], []]);
});

test('requests that wait for a password check do not protect their connections', async (t) => {
  const secured = await startSecuredServer(
    t,
    `basic_auth_users: { prometheus: ${HASH.replace('$04$', '$14$')} }`,
    {
      maxConnections: 2,
    },
  );
  const authorization = `Authorization: Basic ${btoa(`prometheus:${PASSWORD}`)}`;
  const [first, second] = [await open(secured), await open(secured)];
  for (const socket of [first, second])
    socket.write(REQUEST.replace('\r\n\r\n', `\r\n${authorization}\r\n\r\n`));
  const closed = waitForClose(first);
  assert.equal((await readResponse(send(secured.port))).status, 401);
  await closed;
});

test('a rejected request closes its connection and drops those pipelined after it', async (t) => {
  const secured = await startSecuredServer(t, `basic_auth_users: { prometheus: ${HASH} }`);
  const socket = await open(secured);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  socket.write(REQUEST.repeat(20));
  await waitForClose(socket);
  assert.match(received, /^HTTP\/1\.1 401 Unauthorized\r\n(?:.+\r\n)*Connection: close\r\n/);
  assert.equal(received.match(/HTTP\/1\.1/g)?.length, 1);
  assert.deepEqual(secured.metrics.rejected, ['unauthorized']);
});

test('connections may be idle for 120 s, and for less while more than half of them are open', async (t) => {
  const idleTimeouts = [0, 256, 320, 384, 448, 512, 576].map((count) => getIdleTimeoutSeconds(count, 512));
  assert.deepEqual(idleTimeouts, [120, 120, 90, 60, 30, 5, 5]);
  const secured = await startSecuredServer(t, '', { maxConnections: 4 });
  const announced: unknown[] = [];
  for (let count = 1; count <= 4; count += 1) {
    const socket = await open(secured);
    socket.write(REQUEST);
    const [text]: unknown[] = await once(socket, 'data');
    announced.push(/timeout=(\d+)/.exec(String(text))?.[1]);
  }
  assert.deepEqual(announced, ['120', '120', '60', '5']);
});

test('the number of open connections is counted', async (t) => {
  const secured = await startSecuredServer(t, '');
  const sockets = [await open(secured), await open(secured)];
  assert.equal(secured.metrics.connections, 2);
  for (const socket of sockets) socket.destroy();
  await waitUntil(
    () => secured.metrics.connections,
    (count) => count === 0,
  );
});

test('a client is an IPv4 address or the /64 network of an IPv6 address', () => {
  for (const [address, client] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, ''],
  ] as const)
    assert.equal(toClientKey(address), client);
});
