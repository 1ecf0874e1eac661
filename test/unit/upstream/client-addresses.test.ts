import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { deferred } from '../../support/deferred.ts';
import { isLinux } from '../../support/linux.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { readFixture, readIdentity } from '../../support/fixtures.ts';
import { assertFailsWith, collectListing, openClient, targetAt } from './collect-listing.ts';
import { findClosedPort, listen } from '../../support/servers.ts';

const ca = readFixture('tls/ca.pem').toString();
const identity = readIdentity('server');

/** Longer than the 250 ms that Node.js gives an address by default. */
const SLOW_MS = 400;

/**
 * Accepts no connection before it is told to: the kernel drops what is beyond the backlog, and the client
 * tries again.
 */
const BUSY_SERVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:http').createServer((request, response) => response.end('{}'));
  server.listen(0, '127.0.0.1', 1, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(workerData, 0, 0);
  });
`;

/** Starts a server on 127.0.0.1 that accepts connections only after `accept`. */
async function startBusyServer(t: TestContext) {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(BUSY_SERVER, { eval: true, workerData: gate });
  const [message] = await once(worker, 'message');
  const port = z.number().parse(message);
  const fillers = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  await once(fillers[0] ?? worker, 'connect');
  const accept = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  t.after(async () => {
    for (const filler of fillers) filler.destroy();
    accept();
    await worker.terminate();
  });
  return { port, accept };
}

const lookup = (
  _hostname: string,
  _options: unknown,
  answer: (error: null, addresses: { address: string; family: number }[]) => void,
): void =>
  answer(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ]);

for (const name of ['service', 'proxy'] as const) {
  const connectTo = (port: number) => {
    const url = `http://name.test:${port}`;
    return name === 'service' ? { url, proxy: {} } : { url: 'http://127.0.0.1:1', proxy: { httpProxy: url } };
  };

  test(`a ${name} that is slow to accept is not given up although its other address refuses`, async (t) => {
    const { port, accept } = await startBusyServer(t);
    const { url, proxy } = connectTo(port);
    const request = collectListing(openClient(t, { lookup, proxy }), targetAt(url));
    await delay(SLOW_MS);
    accept();
    assert.equal((await request).status, 200);
  });

  test(`an address of a ${name} that never accepts leaves time for the other one`, async (t) => {
    if (!isLinux(t, '127.0.0.2')) return;
    const { port } = await startBusyServer(t);
    const server = createServer((_request, response) => response.end('{}'));
    await listen(t, server, { port, host: '127.0.0.2' });
    const { url, proxy } = connectTo(port);
    // Half of it for each address.
    const client = openClient(t, { lookup, proxy, timeoutMs: 6000 });
    assert.equal((await collectListing(client, targetAt(url))).status, 200);
  });
}

test('the failure names the address that refused, of a name with one and of an IPv6 address', async (t) => {
  const port = await findClosedPort();
  const client = openClient(t, {
    lookup: (_hostname, _options, answer) => answer(null, [{ address: '127.0.0.9', family: 4 }]),
  });
  for (const [host, address] of [
    ['name.test', '127.0.0.9'],
    ['[::1]', '[::1]'],
  ] as const) {
    const error = await assertFailsWith(
      collectListing(client, targetAt(`http://${host}:${port}`)),
      'connect',
    );
    assert.equal(error.message, `Could not connect to the service (ECONNREFUSED ${address}:${port})`);
  }
});

test('the failure at the deadline names the address that did not accept', async (t) => {
  const { port } = await startBusyServer(t);
  const clock = new ManualClock(0);
  const client = openClient(t, { lookup }, clock);
  const failed = assertFailsWith(
    collectListing(client, targetAt(`http://127.0.0.1:${port}`, { timeoutMs: 5000 })),
    'timeout',
  );
  // The client looks the address up, and tries it, in the next turns.
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  clock.advance(5000);
  const { message, code } = await failed;
  assert.deepEqual(
    [message, code],
    [`The service accepted no connection within 5s (127.0.0.1:${port})`, 'NO_CONNECTION'],
  );
});

test('the failure at the deadline says that no name server answered', async (t) => {
  const clock = new ManualClock(0);
  const asked = deferred();
  const client = openClient(t, { lookup: () => asked.resolve() }, clock);
  const failed = assertFailsWith(
    collectListing(client, targetAt('http://name.test', { timeoutMs: 5000 })),
    'timeout',
  );
  await asked.promise;
  clock.advance(5000);
  assert.equal((await failed).message, 'The name of the service was not resolved within 5s');
});

test('the failure names at most four addresses', async (t) => {
  const port = await findClosedPort();
  const all = [1, 2, 3, 4, 5, 6].map((last) => ({ address: `127.0.0.${last}`, family: 4 }));
  const client = openClient(t, { lookup: (_hostname, _options, answer) => answer(null, all) });
  const error = await assertFailsWith(
    collectListing(client, targetAt(`http://name.test:${port}`)),
    'connect',
  );
  assert.match(error.message, /\((?:ECONNREFUSED 127\.0\.0\.\d:\d+, ){4}2 more\)$/);
});

test('the failure names what all addresses answered', async (t) => {
  const { port } = await startBusyServer(t);
  const client = openClient(t, { lookup, timeoutMs: 2000 });
  const error = await assertFailsWith(
    collectListing(client, targetAt(`http://name.test:${port}`)),
    'timeout',
  );
  const [first, second] = ['127.0.0.1', '127.0.0.2'].map((address) => `${address}:${port}`);
  assert.equal(
    error.message,
    `The service accepted no connection (ETIMEDOUT ${first}, ECONNREFUSED ${second})`,
  );
});

for (const [name, accept, respond, reason] of [
  ['closes them before the handshake', (socket: Socket) => socket.destroy(), undefined, 'reset'],
  ['closes them before a response', undefined, ({ socket }: IncomingMessage) => socket.end(), 'reset'],
  ['never responds', undefined, undefined, 'timeout'],
] as const)
  test(`if the first address of a name accepts connections, but ${name}, only one poll fails`, async (t) => {
    if (!isLinux(t, '127.0.0.2')) return;
    const [isOpen, isClosed] = [deferred(), deferred()];
    const faulty = createHttpsServer(identity, respond);
    faulty.on('connection', accept ?? (() => undefined));
    faulty.on('secureConnection', (socket) => {
      isOpen.resolve();
      socket.on('close', isClosed.resolve);
    });
    const port = await listen(t, faulty);
    const server = createHttpsServer(identity, (_request, response) => response.end('{}'));
    await listen(t, server, { port, host: '127.0.0.2' });
    const clock = new ManualClock(0);
    const client = openClient(t, { lookup, tls: { ca } }, clock);
    const target = targetAt(`https://localhost:${port}`);
    const failed = assertFailsWith(collectListing(client, target), reason);
    if (reason === 'timeout') {
      await isOpen.promise;
      clock.advance(target.timeoutMs);
      await isClosed.promise;
    }
    await failed;
    // The client closes its end some turns later.
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    assert.equal((await collectListing(client, target)).status, 200);
  });

/** Closes each connection before the handshake. */
const drop = (socket: Socket): void => void socket.destroy();

for (const [name, dead] of [
  ['two of three IPv4 addresses', ['127.0.0.1', '127.0.0.2']],
  ['three of four IPv4 addresses', ['127.0.0.1', '127.0.0.2', '127.0.0.3']],
  ['an IPv6 and an IPv4 address', ['::1', '127.0.0.1']],
] as const)
  test(`if ${name} accept connections and close them, each fails one poll`, async (t) => {
    const good = '127.0.0.4';
    const server = createHttpsServer(identity, (_request, response) => response.end('{}'));
    const port = await listen(t, server, { port: 0, host: good });
    for (const host of dead) await listen(t, createTcpServer(drop), { port, host });
    const client = openClient(t, {
      lookup: (_hostname, _options, answer) =>
        answer(
          null,
          [...dead, good].map((address) => ({ address, family: address === '::1' ? 6 : 4 })),
        ),
      tls: { ca },
    });
    const target = targetAt(`https://localhost:${port}`);
    for (const _address of dead) await assertFailsWith(collectListing(client, target), 'reset');
    assert.equal((await collectListing(client, target)).status, 200);
  });

test('an address that refuses does not lead to a dead one of the other family again and again', async (t) => {
  const server = createHttpsServer(identity, (_request, response) => response.end('{}'));
  const port = await listen(t, server, { port: 0, host: '127.0.0.2' });
  await listen(t, createTcpServer(drop), { port, host: '::1' });
  // Node.js takes turns of both families: after 127.0.0.1, at which nothing listens, it tries ::1.
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
    { address: '::1', family: 6 },
  ];
  const client = openClient(t, { lookup: (_name, _options, answer) => answer(null, addresses), tls: { ca } });
  const target = targetAt(`https://localhost:${port}`);
  await assertFailsWith(collectListing(client, target), 'reset');
  assert.equal((await collectListing(client, target)).status, 200);
});
