import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { TLSSocket } from 'node:tls';

import type { ResolverOptions } from '../../../src/upstream/resolver.ts';
import { deferred } from '../../support/deferred.ts';
import { readFixture, readIdentity } from '../../support/fixtures.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { collectListing, openClient, OPTIONS, targetAt } from './collect-listing.ts';
import { serveHttp, serveHttps, serveProxy } from '../../support/servers.ts';

const MINUTE_MS = 60_000;
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
