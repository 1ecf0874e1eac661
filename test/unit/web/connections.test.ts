import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { test } from 'node:test';
import { toClientKey } from '../../../src/web/client-address.ts';
import { Connections } from '../../../src/web/connections.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { RecordedWebMetrics } from './recorded-web-metrics.ts';
import { HASH, startSecuredServer, type SecuredServer } from './secured-server.ts';

const HOST = '127.0.0.1';
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** Opens a connection and waits until the server has accepted it. */
async function open({ port, metrics }: SecuredServer): Promise<Socket> {
  const before = metrics.connections;
  const socket = connect({ host: HOST, port })
    .on('error', () => undefined)
    .resume();
  await once(socket, 'connect');
  await waitUntil(
    () => metrics.connections,
    (count) => count > before,
  );
  return socket;
}

/** Waits until a connection is closed, by a reset or not. */
async function waitForClose(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>((resolve) => void socket.once('close', () => resolve()));
}

/** A socket that is connected from an address and to nothing. */
function createSocket(remoteAddress: string): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
}

/** Opens connections of clients such as `a` and `b`, up to a limit; `!` marks those with a request in progress. */
function openAll(opened: string, maxConnections: number) {
  const metrics = new RecordedWebMetrics();
  const connections = new Connections(metrics, maxConnections);
  const names = opened.split(' ');
  const sockets = names.map((name) => {
    const socket = createSocket(name.slice(0, 1));
    connections.add(socket);
    const connection = connections.get(socket);
    if (name.endsWith('!') && connection !== undefined) connections.setBusy(connection, true);
    return socket;
  });
  const closed = names.filter((_, index) => sockets[index]?.destroyed === true);
  return { metrics, closed };
}

for (const [opened, expected] of [
  ['a1 a2 a3', []],
  ['a1 a2 a3 a4', ['a1']],
  ['a1 b1 b2 b3', ['b1']],
  ['a1 b1 b2 c1', ['b1']],
  ['a1 b1! b2 b3', ['b2']],
  ['a1 b1! b2! b3!', ['b3!']],
  ['a1! b1! b2! b3', ['b3']],
  ['a1 b1 c1 d1 d2', ['a1', 'd1']],
] as const) {
  test(`of at most three connections, ${opened} close ${expected.join(' and ') || 'none'}`, () => {
    const { metrics, closed } = openAll(opened, 3);
    assert.deepEqual(closed, expected);
    assert.deepEqual(
      metrics.closed,
      expected.map(() => 'max_connections'),
    );
  });
}

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
