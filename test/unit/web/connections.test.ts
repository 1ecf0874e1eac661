import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { test } from 'node:test';
import { Connections, toClientKey } from '../../../src/web/connections.ts';
import { waitForValue } from '../../support/wait-until.ts';
import { HASH, RecordedWebMetrics, startSecuredServer } from './secured-server.ts';

/**
 * Adds connections such as `a1`, whose first character is the client; `!` marks busy ones. Returns those that
 * gave way.
 */
function addAll(names: string, maxConnections: number): string {
  const metrics = new RecordedWebMetrics();
  const connections = new Connections(metrics, maxConnections);
  const sockets = names.split(' ').map((name) => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: name.slice(0, 1) });
    connections.add(socket);
    const connection = connections.get(socket);
    if (connection !== undefined) connection.isBusy = name.endsWith('!');
    return { name, socket };
  });
  const closed = sockets.filter(({ socket }) => socket.destroyed).map(({ name }) => name);
  assert.equal(metrics.closed.length, closed.length);
  return closed.join(' ');
}

for (const [names, expected] of [
  ['a1 a2 a3', ''],
  ['a1 a2 a3 a4', 'a1'],
  ['a1 b1 b2 b3', 'b1'],
  ['a1 b1 b2 c1', 'b1'],
  ['a1 b1! b2 b3', 'b2'],
  ['a1! b1! b2! b3', 'b3'],
  ['a1 b1! b2! c1', 'b1!'],
  ['a1 b1 c1 d1', 'a1'],
] as const) {
  test(`of at most three connections, ${names} close ${expected || 'none'}`, () => {
    assert.equal(addAll(names, 3), expected);
  });
}

test('a connection that has been used is the newest', () => {
  const connections = new Connections(new RecordedWebMetrics(), 2);
  const [first, second, third] = [new Socket(), new Socket(), new Socket()];
  connections.add(first);
  connections.add(second);
  const used = connections.get(first);
  assert.ok(used !== undefined);
  connections.finishRequest(used);
  connections.add(third);
  assert.deepEqual(
    [first, second, third].map(({ destroyed }) => destroyed),
    [false, true, false],
  );
});

test('a rejected request closes its connection', async (t) => {
  const { port, metrics } = await startSecuredServer(t, `basic_auth_users: { prometheus: ${HASH} }`);
  const socket = connect({ host: '127.0.0.1', port });
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'close');
  assert.match(received, /^HTTP\/1\.1 401 Unauthorized\r\n(?:.+\r\n)*Connection: close\r\n/);
  assert.deepEqual(metrics.rejected, ['unauthorized']);
});

test('the number of open connections is counted', async (t) => {
  const { port, metrics } = await startSecuredServer(t, '');
  const waitForCount = (expected: number) => waitForValue(() => metrics.connections, expected);
  const sockets = [1, 2].map(() => connect({ host: '127.0.0.1', port }));
  await waitForCount(2);
  for (const socket of sockets) socket.destroy();
  await waitForCount(0);
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
