import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import { signRequest } from '../../src/upstream/signing.ts';
import { PUBLISHED_SCHEME } from '../support/published-scheme.ts';
import { ask, CLOCK, failsWith, openClient, targetAt } from './asking.ts';
import { serveHttp } from './servers.ts';

const BODY = Buffer.from(JSON.stringify({ ret: 0, user_list: [], task_list: [], fill: 'é'.repeat(200_000) }));
const MIB = 1024 * 1024;

describe('a request', () => {
  it('is the published one, byte for byte where it is signed', async (t) => {
    const seen: IncomingMessage[] = [];
    const url = await serveHttp(t, (request, response) => {
      seen.push(request);
      response.end('{}');
    });
    await ask(openClient(t), targetAt(url));
    assert.equal(seen.length, 1);
    assert.equal(seen[0]?.method, 'GET');
    assert.equal(seen[0]?.url, '/api/20140928/task_list?service_code=TESTING');
    const { host, connection, ...headers } = seen[0]?.headers ?? {};
    assert.equal(`http://${host}`, url);
    assert.equal(connection, 'keep-alive');
    assert.deepEqual(headers, {
      accept: 'application/json',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'xvs-exporter/test',
      'xvs-signature': 'c576f321f9ad60c92d85032a99f9856b8c432cdf55f6c275b2c8a27344a5bf14',
      'xvs-timestamp': '1443494296533',
    });
  });

  it('escapes the service code on the wire and signs it as it is', async (t) => {
    const seen: IncomingMessage[] = [];
    const url = await serveHttp(t, (request, response) => {
      seen.push(request);
      response.end('{}');
    });
    const serviceCode = "A B&ü/测试'+%";
    await ask(openClient(t), targetAt(`${url}/live/`, { serviceCode }));
    assert.equal(
      seen[0]?.url,
      "/live/api/20140928/task_list?service_code=A%20B%26%C3%BC%2F%E6%B5%8B%E8%AF%95'%2B%25",
    );
    const parts = { path: '/live/api/20140928/task_list', query: `service_code=${serviceCode}` };
    assert.equal(
      seen[0]?.headers['xvs-signature'],
      signRequest(PUBLISHED_SCHEME, 'abc', parts, CLOCK.now())['xvs-signature'],
    );
  });

  it('uses connections again, and no more than it may', async (t) => {
    const ports = new Set<number | undefined>();
    const url = await serveHttp(t, (request, response) => {
      ports.add(request.socket.remotePort);
      response.end('{}');
    });
    const client = openClient(t, { maxConnections: 2 });
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 6 }, () => ask(client, targetAt(url))));
    }
    assert.ok(ports.size <= 2, `${ports.size} connections`);
  });

  it('is one of many at a time without a warning', async (t) => {
    const warnings: Error[] = [];
    const heed = (warning: Error): void => {
      warnings.push(warning);
    };
    process.on('warning', heed);
    t.after(() => process.off('warning', heed));
    const url = await serveHttp(t, (_request, response) => {
      response.end('{}');
    });
    const client = openClient(t, { maxConnections: 20 });
    await Promise.all(Array.from({ length: 20 }, () => ask(client, targetAt(url))));
    assert.deepEqual(warnings, []);
  });
});

describe('a body', () => {
  for (const [encoding, body] of [
    [undefined, BODY],
    ['identity', BODY],
    ['gzip', gzipSync(BODY)],
    ['x-gzip', gzipSync(BODY)],
    ['GZip', gzipSync(BODY)],
    ['gzip', Buffer.concat([gzipSync(BODY.subarray(0, 1000)), gzipSync(BODY.subarray(1000))])],
    ['deflate', deflateSync(BODY)],
    ['deflate', deflateRawSync(BODY)],
    ['deflate', deflateRawSync(BODY, { level: 0 })],
    ['br', brotliCompressSync(BODY)],
    ['gzip, br', brotliCompressSync(gzipSync(BODY))],
    ['deflate, identity, gzip', gzipSync(deflateRawSync(BODY))],
    ['br, deflate', deflateSync(brotliCompressSync(BODY))],
  ] as const) {
    it(`in ${encoding ?? 'no coding'} (${body.length} bytes) is handed on decoded`, async (t) => {
      const url = await serveHttp(t, (_request, response) => {
        response.writeHead(200, encoding === undefined ? {} : { 'content-encoding': encoding });
        response.write(body.subarray(0, 1));
        response.end(body.subarray(1));
      });
      const listing = await ask(openClient(t), targetAt(url));
      assert.equal(listing.status, 200);
      assert.equal(listing.bytes, BODY.length);
      assert.ok(listing.body.equals(BODY));
    });
  }

  for (const [name, encoding, body] of [
    ['with an unknown coding', 'zstd', BODY],
    ['with an unknown coding in a stack', 'zstd, gzip', gzipSync(BODY)],
    ['with more codings than anybody needs', 'gzip, gzip, gzip, gzip, gzip', BODY],
    ['that is no gzip', 'gzip', BODY],
    ['with broken gzip', 'gzip', gzipSync(BODY).fill(0x55, 200, 300)],
    ['with truncated gzip', 'gzip', gzipSync(BODY).subarray(0, -9)],
    ['that is no deflate', 'deflate', Buffer.alloc(1000, 0xff)],
    ['with truncated zlib', 'deflate', deflateSync(BODY).subarray(0, -9)],
    ['with truncated bare deflate', 'deflate', deflateRawSync(BODY).subarray(0, -9)],
    ['that is no brotli', 'br', BODY],
    ['with truncated brotli', 'br', brotliCompressSync(BODY).subarray(0, -9)],
  ] as const) {
    it(`${name} is not_json`, async (t) => {
      const url = await serveHttp(t, (_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(body);
      });
      await failsWith(ask(openClient(t), targetAt(url)), 'not_json');
    });
  }

  it('that announces too much is refused before its first byte', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      response.writeHead(200, { 'content-length': '1001' }).flushHeaders();
    });
    await failsWith(ask(openClient(t, { maxResponseBytes: 1000 }), targetAt(url)), 'too_large');
  });

  it('that announces nothing is refused when it has become too large', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      response.write(Buffer.alloc(1001));
    });
    await failsWith(ask(openClient(t, { maxResponseBytes: 1000 }), targetAt(url)), 'too_large');
  });

  it('of exactly the limit is taken', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      response.end(Buffer.alloc(1000));
    });
    assert.equal((await ask(openClient(t, { maxResponseBytes: 1000 }), targetAt(url))).bytes, 1000);
  });

  for (const [encoding, bomb] of [
    ['gzip', gzipSync(Buffer.alloc(32 * MIB))],
    ['deflate', deflateRawSync(Buffer.alloc(32 * MIB))],
    ['br', brotliCompressSync(Buffer.alloc(32 * MIB))],
    ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(32 * MIB)))],
  ] as const) {
    it(`that is a bomb of ${encoding} is refused in small pieces`, async (t) => {
      const url = await serveHttp(t, (_request, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
      });
      const sizes: number[] = [];
      const asked = openClient(t, { maxResponseBytes: MIB }).requestListing(
        targetAt(url),
        (chunk) => sizes.push(chunk.length),
        new AbortController().signal,
      );
      await failsWith(asked, 'too_large');
      assert.ok(Math.max(...sizes) <= 64 * 1024);
      assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= MIB);
    });
  }
});

describe('an answer other than 2xx', () => {
  it('that redirects is not followed', async (t) => {
    const paths: (string | undefined)[] = [];
    const url = await serveHttp(t, (request, response) => {
      paths.push(request.url);
      response.writeHead(302, { location: '/elsewhere' }).end('moved');
    });
    const listing = await ask(openClient(t), targetAt(url));
    assert.equal(listing.status, 302);
    assert.equal(listing.body.toString(), 'moved');
    assert.equal(paths.length, 1);
  });

  for (const [name, headers, body] of [
    ['plain', {}, Buffer.alloc(MIB, 'x')],
    ['compressed', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(MIB, 'x'))],
  ] as const) {
    it(`and large, ${name}, is cut at 64 KiB`, async (t) => {
      const url = await serveHttp(t, (_request, response) => {
        response.writeHead(500, headers).end(body);
      });
      const listing = await ask(openClient(t, { maxResponseBytes: 10 }), targetAt(url));
      assert.deepEqual(listing, { status: 500, bytes: 65536, body: Buffer.alloc(65536, 'x') });
    });
  }

  for (const [name, headers] of [
    ['a coding that nobody asked for', { 'content-encoding': 'zstd' }],
    ['a body that is not what its coding says', { 'content-encoding': 'gzip' }],
  ] as const) {
    it(`and with ${name} keeps its status`, async (t) => {
      const url = await serveHttp(t, (_request, response) => {
        response.writeHead(503, { ...headers, 'retry-after': '7' }).end('sorry');
      });
      const listing = await ask(openClient(t), targetAt(url));
      assert.deepEqual(listing, { status: 503, bytes: 0, retryAfterMs: 7000, body: Buffer.alloc(0) });
    });
  }

  it('and broken off keeps its status and what came of it', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      response.writeHead(502, { 'content-length': '100' }).write('half', () => response.destroy());
    });
    const listing = await ask(openClient(t), targetAt(url));
    assert.equal(listing.status, 502);
  });

  for (const [value, retryAfterMs] of [
    ['120', 120_000],
    ['Tue, 29 Sep 2015 02:38:18 GMT', 1467],
  ] as const) {
    it(`says how long to wait with ${value}`, async (t) => {
      const url = await serveHttp(t, (_request, response) => {
        response.writeHead(429, { 'retry-after': value }).end('{"ret":7}');
      });
      const listing = await ask(openClient(t), targetAt(url));
      assert.deepEqual(listing, { status: 429, bytes: 9, retryAfterMs, body: Buffer.from('{"ret":7}') });
    });
  }
});
