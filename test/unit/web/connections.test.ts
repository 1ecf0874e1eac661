import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { test } from 'node:test';
import { Connections, toClientKey } from '../../../src/web/connections.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { HASH, RecordedWebMetrics, startSecuredServer } from './secured-server.ts';

/** A socket that is connected from an address and to nothing. */
function createSocket(remoteAddress: string): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
}

test('beyond the limit, the oldest connection without a busy request gives way', () => {
  const metrics = new RecordedWebMetrics();
  const connections = new Connections(metrics, 2);
  const [busy, idle, third] = ['a', 'a', 'b'].map(createSocket);
  assert.ok(busy !== undefined && idle !== undefined && third !== undefined);
  connections.add(busy);
  const connection = connections.get(busy);
  assert.ok(connection !== undefined);
  connections.setBusy(connection, true);
  connections.add(idle);
  connections.add(third);
  assert.deepEqual(
    [busy, idle, third].map(({ destroyed }) => destroyed),
    [false, true, false],
  );
  assert.deepEqual([connections.get(idle), metrics.closed], [undefined, ['max_connections']]);
});

test('a rejected request closes its connection and drops those pipelined after it', async (t) => {
  const { port, metrics } = await startSecuredServer(t, `basic_auth_users: { prometheus: ${HASH} }`);
  const socket = connect({ host: '127.0.0.1', port }).on('error', () => undefined);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
  await once(socket, 'close');
  assert.match(received, /^HTTP\/1\.1 401 Unauthorized\r\n(?:.+\r\n)*Connection: close\r\n/);
  assert.equal(received.match(/HTTP\/1\.1/g)?.length, 1);
  assert.deepEqual(metrics.rejected, ['unauthorized']);
});

test('the number of open connections is counted', async (t) => {
  const { port, metrics } = await startSecuredServer(t, '');
  const waitForCount = (expected: number) =>
    waitUntil(
      () => metrics.connections,
      (count) => count === expected,
    );
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
