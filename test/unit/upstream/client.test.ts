import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it, test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';

import type { ResponseHead } from '../../../src/upstream/request-observer.ts';
import { deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { collectListing, assertFailsWith, openClient, OPTIONS, targetAt } from './collect-listing.ts';
import { serveHttp, serveRaw } from '../../support/servers.ts';

const BODY = Buffer.from(JSON.stringify({ ret: 0, user_list: [], task_list: [], fill: 'é'.repeat(200_000) }));
const MIB = 1024 * 1024;

describe('a request', () => {
  it('equals the published test vector', async (t) => {
    const seen: IncomingMessage[] = [];
    const url = await serveHttp(t, (request, response) => {
      seen.push(request);
      response.end('{}');
    });
    await collectListing(openClient(t), targetAt(url));
    assert.equal(seen.length, 1);
    assert.equal(seen[0]?.method, 'GET');
    assert.equal(seen[0]?.url, '/api/20140928/task_list?service_code=TESTING');
    const { host, connection, ...headers } = seen[0]?.headers ?? {};
    assert.equal(`http://${host}`, url);
    assert.equal(connection, 'keep-alive');
    assert.deepEqual(headers, {
      accept: 'application/json',
      'cache-control': 'no-cache',
      'accept-encoding': 'gzip, deflate',
      'user-agent': 'xvs-exporter/test',
      'xvs-signature': 'c576f321f9ad60c92d85032a99f9856b8c432cdf55f6c275b2c8a27344a5bf14',
      'xvs-timestamp': '1443494296533',
    });
  });
});

test('four informational responses before the listing are ignored', async (t) => {
  const url = await serveHttp(t, (_request, response) => {
    for (let sent = 0; sent < 4; sent += 1) response.writeProcessing();
    response.end('{}');
  });
  assert.equal((await collectListing(openClient(t), targetAt(url))).body.toString(), '{}');
});

test('a status for which no request asks is no lost connection', async (t) => {
  const url = await serveRaw(t, (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'));
  const error = await assertFailsWith(collectListing(openClient(t), targetAt(url)), 'http_status');
  assert.deepEqual(
    [error.message, error.status, error.code],
    ['Expected HTTP status 2xx, found 100', 100, 'UNASKED_STATUS'],
  );
});

test('a request ends at its deadline by the clock of the client', async (t) => {
  const hasArrived = deferred();
  const url = await serveHttp(t, () => hasArrived.resolve());
  const clock = new ManualClock(0);
  const target = targetAt(url, { timeoutMs: 3_600_000 });
  const failure = assertFailsWith(collectListing(openClient(t, {}, clock), target), 'timeout');
  await hasArrived.promise;
  clock.advance(3_600_000);
  assert.equal((await failure).message, `The service did not respond within 3600s (${new URL(url).host})`);
  assert.equal(clock.sleeperCount, 0);
});

describe('a body', () => {
  it('in gzip with a byte order mark is passed on without it', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('\ufeff{}'));
    });
    assert.equal((await collectListing(openClient(t), targetAt(url))).body.toString(), '{}');
  });

  it('whose byte order mark is cut into chunks is passed on without it', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      for (const byte of Buffer.from('\ufeff{}')) response.write(Buffer.of(byte));
      response.end();
    });
    assert.equal((await collectListing(openClient(t), targetAt(url))).body.toString(), '{}');
  });

  it('of exactly the limit is accepted', async (t) => {
    const url = await serveHttp(t, (_request, response) => response.end(Buffer.alloc(1000)));
    const { body } = await collectListing(openClient(t, { maxResponseBytes: 1000 }), targetAt(url));
    assert.equal(body.length, 1000);
  });

  for (const [encoding, bomb] of [
    ['gzip', gzipSync(Buffer.alloc(32 * MIB))],
    ['deflate', deflateRawSync(Buffer.alloc(32 * MIB))],
  ] as const) {
    it(`that is a decompression bomb in ${encoding} is too_large and is decoded in small chunks`, async (t) => {
      const url = await serveHttp(t, (_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
      });
      const sizes: number[] = [];
      const request = openClient(t, { maxResponseBytes: MIB }).requestListing(
        targetAt(url),
        (chunk) => sizes.push(chunk.length),
        new AbortController().signal,
      );
      await assertFailsWith(request, 'too_large');
      assert.ok(Math.max(...sizes) <= 64 * 1024);
      assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= MIB);
    });
  }
});

test('an observer gets the offset of the clock and the bytes of the body before it is decoded', async (t) => {
  const body = gzipSync(BODY);
  const url = await serveHttp(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', date: 'Tue, 29 Sep 2015 02:36:16 GMT' }).end(body);
  });
  const heads: ResponseHead[] = [];
  let received = 0;
  const observer = {
    onResponse: (head: ResponseHead) => heads.push(head),
    onBodyBytes: (bytes: number) => (received += bytes),
  };
  await openClient(t).requestListing(targetAt(url), () => undefined, new AbortController().signal, observer);
  assert.deepEqual(
    heads.map(({ status, clockOffset, certificateNotAfterMs }) => [
      status,
      clockOffset,
      certificateNotAfterMs,
    ]),
    [[200, { aheadMs: 120_033, uncertaintyMs: 500 }, undefined]],
  );
  assert.equal(received, body.length);
});

test('a client with new options completes the requests in progress, and closes their connections', async (t) => {
  const arrived = deferred<ServerResponse>();
  const seen: (string | undefined)[] = [];
  const url = await serveHttp(t, (request, response) => {
    seen.push(request.headers['user-agent']);
    if (seen.length === 1) arrived.resolve(response.writeHead(200, { 'content-length': 2 }));
    else response.end('{}');
  });
  const client = openClient(t);
  const inProgress = collectListing(client, targetAt(url));
  const response = await arrived.promise;
  client.configure({ ...OPTIONS, userAgent: 'xvs-exporter/new' });
  await collectListing(client, targetAt(url));
  const closed = once(response.req.socket, 'close');
  response.end('{}');
  assert.equal((await inProgress).body.toString(), '{}');
  await closed;
  assert.deepEqual(seen, ['xvs-exporter/test', 'xvs-exporter/new']);
});
