import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';

import { readFixture, readIdentity } from '../../support/fixtures.ts';
import { collectListing, assertFailsWith, openClient, targetAt } from './collect-listing.ts';
import { findClosedPort, serveHttp, serveHttps, serveProxy, serveRaw } from '../../support/servers.ts';

const ca = readFixture('tls/ca.pem').toString();
const server = readIdentity('server');
const respond: RequestListener = (_request, response) => {
  response.end('{}');
};

describe('the proxy', () => {
  it('receives http requests in absolute form, with the credentials of its URL', async (t) => {
    const [url, proxy] = await Promise.all([serveHttp(t, respond), serveProxy(t)]);
    const request = `GET ${url}/api/20140928/task_list?service_code=TESTING`;
    for (const [userInfo, credentials] of [
      ['', '-'],
      ['user:p%40ss@', `Basic ${Buffer.from('user:p@ss').toString('base64')}`],
    ] as const) {
      const client = openClient(t, { proxy: { httpProxy: proxy.url.replace('//', `//${userInfo}`) } });
      const listing = await collectListing(client, targetAt(url));
      assert.deepEqual([listing.body.toString(), listing.viaProxy], ['{}', new URL(proxy.url).host]);
      assert.equal(proxy.seen.at(-1), `${request} ${credentials}`);
    }
  });

  it('opens a tunnel for https, in which the server is verified', async (t) => {
    const [url, proxy] = await Promise.all([serveHttps(t, server, respond), serveProxy(t)]);
    const proxied = { httpsProxy: proxy.url };
    const client = openClient(t, { proxy: proxied, tls: { ca } });
    assert.equal((await collectListing(client, targetAt(url))).status, 200);
    assert.deepEqual(proxy.seen, [`CONNECT ${url.replace('https://', '')} -`]);
    const error = await assertFailsWith(
      collectListing(openClient(t, { proxy: proxied }), targetAt(url)),
      'tls',
    );
    assert.deepEqual([error.proxy, error.viaProxy], [undefined, new URL(proxy.url).host]);
  });

  it('of http is not used for https', async (t) => {
    const [url, proxy] = await Promise.all([serveHttps(t, server, respond), serveProxy(t)]);
    const client = openClient(t, { proxy: { httpProxy: proxy.url }, tls: { ca } });
    assert.equal((await collectListing(client, targetAt(url))).status, 200);
    assert.deepEqual(proxy.seen, []);
  });

  it('is bypassed for hosts of no_proxy', async (t) => {
    const [url, proxy] = await Promise.all([serveHttp(t, respond), serveProxy(t)]);
    const client = openClient(t, { proxy: { httpProxy: proxy.url, noProxy: '127.0.0.0/8' } });
    assert.equal((await collectListing(client, targetAt(url))).status, 200);
    assert.deepEqual(proxy.seen, []);
  });
});

describe('a tunnel that fails', () => {
  const TARGET = targetAt('https://127.0.0.1:1');

  it('because nothing listens at the proxy is connect, and names its address', async (t) => {
    const httpsProxy = `http://127.0.0.1:${await findClosedPort()}`;
    const error = await assertFailsWith(
      collectListing(openClient(t, { proxy: { httpsProxy } }), TARGET),
      'connect',
    );
    const { host } = new URL(httpsProxy);
    assert.equal(error.message, `Could not connect to the proxy (ECONNREFUSED ${host})`);
    assert.equal(error.proxy, httpsProxy);
  });

  for (const status of [403, 407, 502])
    it(`with status ${status} is connect, and names the status`, async (t) => {
      const httpsProxy = await serveRaw(t, (socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
      const proxy = httpsProxy.replace('//', '//user:pass-word@');
      const error = await assertFailsWith(
        collectListing(openClient(t, { proxy: { httpsProxy: proxy } }), TARGET),
        'connect',
      );
      assert.equal(error.message, `Expected HTTP status 200 from the proxy, found ${status}`);
      assert.deepEqual([error.code, error.proxy], [`PROXY_STATUS_${status}`, httpsProxy]);
    });

  for (const [name, close] of [
    ['closes', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ] as const) {
    it(`because the proxy ${name} the connection is connect, and is not retried`, async (t) => {
      let requests = 0;
      const httpsProxy = await serveRaw(t, (socket) => {
        requests += 1;
        close(socket);
      });
      const error = await assertFailsWith(
        collectListing(openClient(t, { proxy: { httpsProxy } }), TARGET),
        'connect',
      );
      assert.equal(error.message, 'The proxy closed the connection');
      assert.equal(requests, 1);
    });
  }

  it('because the proxy does not respond is timeout', async (t) => {
    const httpsProxy = await serveRaw(t, () => undefined);
    const client = openClient(t, { proxy: { httpsProxy }, timeoutMs: 50 });
    const { message } = await assertFailsWith(
      collectListing(client, targetAt(TARGET.baseUrl, { timeoutMs: 50 })),
      'timeout',
    );
    assert.equal(message, 'No tunnel was opened within 0.05s');
  });

  it('with status 407 names how the proxy authenticates, and nothing else of its header', async (t) => {
    const head = 'HTTP/1.1 407 No\r\nproxy-authenticate: NTLM\r\nproxy-authenticate: Negotiate abc==\r\n\r\n';
    const httpsProxy = await serveRaw(t, (socket) => socket.end(head));
    const { message } = await assertFailsWith(
      collectListing(openClient(t, { proxy: { httpsProxy } }), TARGET),
      'connect',
    );
    assert.equal(message, 'Expected HTTP status 200 from the proxy, found 407 (NTLM, Negotiate)');
  });

  it('because the authority of the proxy is not trusted is tls, and names the proxy', async (t) => {
    const httpsProxy = await serveHttps(t, server, respond);
    const client = openClient(t, { proxy: { httpsProxy, httpProxy: httpsProxy }, tls: { ca } });
    for (const target of [TARGET, targetAt('http://127.0.0.1:1')]) {
      const error = await assertFailsWith(collectListing(client, target), 'tls');
      assert.match(error.message, /^Could not establish a trusted TLS connection to the proxy \(UNABLE_TO/);
      assert.equal(error.proxy, httpsProxy);
    }
  });

  it('because the name of the proxy is unknown is dns, and names the proxy', async (t) => {
    const unknown = Object.assign(new Error('No such name'), { code: 'ENOTFOUND' });
    const proxy = 'http://proxy.test:3128';
    const client = openClient(t, {
      proxy: { httpsProxy: proxy, httpProxy: proxy },
      lookup: (_hostname, _options, answer) => answer(unknown, []),
    });
    for (const target of [TARGET, targetAt('http://127.0.0.1:1')]) {
      const error = await assertFailsWith(collectListing(client, target), 'dns');
      assert.equal(error.message, 'The name of the proxy could not be resolved (ENOTFOUND)');
      assert.equal(error.proxy, proxy);
    }
  });

  it('with 407 for plain http is connect', async (t) => {
    const httpProxy = await serveHttp(t, (_request, response) => {
      response.writeHead(407).end('credentials required');
    });
    const error = await assertFailsWith(
      collectListing(openClient(t, { proxy: { httpProxy } }), targetAt('http://127.0.0.1:1')),
      'connect',
    );
    assert.equal(error.code, 'PROXY_STATUS_407');
  });
});
