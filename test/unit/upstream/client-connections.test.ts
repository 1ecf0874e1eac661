import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';

import type { ListingTarget } from '../../../src/upstream/client.ts';
import type { ResolverOptions } from '../../../src/upstream/resolver.ts';
import { deferred } from '../../support/deferred.ts';
import { readFixture, readIdentity } from '../../support/fixtures.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { assertFailsWith, collectListing, openClient, OPTIONS, targetAt } from './collect-listing.ts';
import { serveHttp, serveHttps, serveProxy } from '../../support/servers.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START_MS = 1_443_494_296_533;

const ca = readFixture('tls/ca.pem').toString();
const identity = readIdentity('server');

for (const maxConnections of [1, 2])
  test(`of ${maxConnections} connections, each is closed after its first request beyond five minutes`, async (t) => {
    const ports = new Set<number | undefined>();
    const responses: ServerResponse[] = [];
    const url = await serveHttp(t, (request, response) => {
      ports.add(request.socket.remotePort);
      responses.push(response);
      if (responses.length === maxConnections) for (const each of responses.splice(0)) each.end('{}');
    });
    const clock = new ManualClock(START_MS);
    const client = openClient(t, { maxConnections }, clock);
    const pollAll = (): Promise<unknown> =>
      Promise.all(Array.from({ length: maxConnections }, () => collectListing(client, targetAt(url))));
    for (let minute = 0; minute <= 5; minute += 1) {
      await pollAll();
      clock.advance(MINUTE_MS);
    }
    assert.equal(ports.size, maxConnections);
    await pollAll();
    assert.equal(ports.size, 2 * maxConnections);
  });

for (const name of ['directly', 'through a proxy'] as const) {
  test(`no connection resumes the TLS session of an earlier one, ${name}`, async (t) => {
    const resumed: boolean[] = [];
    const url = await serveHttps(t, identity, ({ socket }, response) => {
      resumed.push(socket instanceof TLSSocket && socket.isSessionReused());
      response.writeHead(200, { connection: 'close' }).end('{}');
    });
    const proxy = name === 'directly' ? {} : { httpsProxy: (await serveProxy(t)).url };
    const client = openClient(t, { tls: { ca }, proxy });
    for (let poll = 0; poll < 3; poll += 1) await collectListing(client, targetAt(url));
    assert.deepEqual(resumed, [false, false, false]);
  });
}

test('no request fails because a service closes each connection, although others wait for one', async (t) => {
  const url = await serveHttps(t, identity, (_request, response) => {
    response.writeHead(200, { connection: 'close' }).end('{}');
  });
  const client = openClient(t, { tls: { ca } });
  for (let round = 0; round < 5; round += 1)
    await Promise.all(Array.from({ length: 20 }, () => collectListing(client, targetAt(url))));
});

test('a connection is idle for a minute at most, whatever the service says', async (t) => {
  const ports: (number | undefined)[] = [];
  const url = await serveHttp(t, ({ socket }, response) => {
    ports.push(socket.remotePort);
    response.writeHead(200, { 'keep-alive': 'timeout=600' }).end('{}');
  });
  const client = openClient(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const idleMs of [0, 59_000, 60_001]) {
    t.mock.timers.tick(idleMs);
    await collectListing(client, targetAt(url));
    await nextTurn();
  }
  assert.equal(ports[1], ports[0]);
  assert.notEqual(ports[2], ports[1]);
});

test('after a timeout on a reused connection, no poll uses another one of the same age', async (t) => {
  const forgotten = new Set<unknown>();
  const sockets = new Set<unknown>();
  const responses: ServerResponse[] = [];
  const url = await serveHttp(t, ({ socket }, response) => {
    // The packets of a connection that a load balancer has forgotten vanish.
    if (forgotten.has(socket)) return;
    sockets.add(socket);
    responses.push(response);
    if (responses.length >= 3) for (const each of responses.splice(0)) each.end('{}');
  });
  const client = openClient(t, { maxConnections: 3 });
  const poll = (more: Partial<ListingTarget> = {}) => collectListing(client, targetAt(url, more));
  await Promise.all([poll(), poll(), poll()]);
  for (const socket of sockets) forgotten.add(socket);
  await assertFailsWith(poll({ timeoutMs: 100 }), 'timeout');
  await Promise.all([poll(), poll(), poll()]);
  assert.equal(sockets.size, 6);
});

test('timeouts drop the connections of their origin alone, and only those that were open for them', async (t) => {
  const clock = new ManualClock(START_MS);
  const client = openClient(t, { tls: { ca } }, clock);
  const respond = (sockets: Set<unknown>): RequestListener => {
    return ({ socket }, response) => {
      sockets.add(socket);
      response.end('{}');
    };
  };
  const others = new Set<unknown>();
  const own = new Set<unknown>();
  const waiting = [deferred(), deferred()];
  const otherUrl = await serveHttps(t, identity, respond(others));
  const url = await serveHttp(t, (request, response) => {
    const [, serviceCode] = /service_code=(\d?)/.exec(request.url ?? '') ?? [];
    if (serviceCode === '') respond(own)(request, response);
    else waiting[Number(serviceCode)]?.resolve();
  });
  const poll = (serviceCode = 'TESTING') =>
    collectListing(
      client,
      targetAt(url, { serviceCode, timeoutMs: 1000 * (1 + Number(serviceCode)) || HOUR_MS }),
    );
  const pollOther = () => collectListing(client, targetAt(otherUrl));
  await Promise.all([poll(), pollOther()]);
  const failures = ['0', '1'].map((code) => assertFailsWith(poll(code), 'timeout'));
  await Promise.all(waiting.map(({ promise }) => promise));
  for (const failure of failures) {
    clock.advance(1000);
    await failure;
    await Promise.all([poll(), pollOther()]);
  }
  assert.deepEqual([own.size, others.size], [2, 1]);
});

test('a client with new options completes a request whose connection is being opened', async (t) => {
  const url = await serveHttp(t, (_request, response) => response.end('{}'));
  const isResolved = deferred();
  const lookup: ResolverOptions['lookup'] = (_hostname, _options, answer) =>
    void isResolved.promise.then(() => answer(null, [{ address: '127.0.0.1', family: 4 }]));
  const client = openClient(t, { lookup });
  const request = collectListing(client, targetAt(url.replace('127.0.0.1', 'name.test')));
  client.configure(OPTIONS);
  isResolved.resolve();
  assert.equal((await request).status, 200);
});
