import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';

import { fixture } from '../support/fixtures.ts';
import { ask, failsWith, openClient, targetAt } from './asking.ts';
import { closedPort, serveHttp, serveHttps, serveProxy, serveRaw } from './servers.ts';

const ca = fixture('tls/ca.pem').toString();
const server = { cert: fixture('tls/server.pem'), key: fixture('tls/server.key') };
const answer: RequestListener = (_request, response) => {
  response.end('{}');
};

describe('a proxy', () => {
  it('is asked for http in absolute form', async (t) => {
    const [url, proxy] = await Promise.all([serveHttp(t, answer), serveProxy(t)]);
    const client = openClient(t, { proxy: { httpProxy: proxy.url } });
    assert.equal((await ask(client, targetAt(url))).body.toString(), '{}');
    assert.deepEqual(proxy.seen, [`GET ${url}/api/20140928/task_list?service_code=TESTING -`]);
  });

  it('is asked for a tunnel for https, in which the server is verified', async (t) => {
    const [url, proxy] = await Promise.all([serveHttps(t, server, answer), serveProxy(t)]);
    const proxied = { httpsProxy: proxy.url };
    const client = openClient(t, { proxy: proxied, tls: { ca } });
    assert.equal((await ask(client, targetAt(url))).status, 200);
    assert.deepEqual(proxy.seen, [`CONNECT ${url.replace('https://', '')} -`]);
    await failsWith(ask(openClient(t, { proxy: proxied }), targetAt(url)), 'tls');
  });

  it('may be written without a scheme, and with credentials', async (t) => {
    const [url, proxy] = await Promise.all([serveHttp(t, answer), serveProxy(t)]);
    const httpProxy = proxy.url.replace('http://', 'user:p%40ss@');
    await ask(openClient(t, { proxy: { httpProxy } }), targetAt(url));
    const credentials = Buffer.from('user:p@ss').toString('base64');
    assert.deepEqual(proxy.seen, [
      `GET ${url}/api/20140928/task_list?service_code=TESTING Basic ${credentials}`,
    ]);
  });

  for (const noProxy of ['127.0.0.1', 'elsewhere.invalid, 127.0.0.1', '*']) {
    it(`is passed by for what NO_PROXY names: ${noProxy}`, async (t) => {
      const [url, proxy] = await Promise.all([serveHttp(t, answer), serveProxy(t)]);
      const client = openClient(t, { proxy: { httpProxy: proxy.url, noProxy } });
      assert.equal((await ask(client, targetAt(url))).status, 200);
      assert.deepEqual(proxy.seen, []);
    });
  }

  it('of the environment is not looked up behind the back of the caller', async (t) => {
    const before = process.env['http_proxy'];
    process.env['http_proxy'] = `http://127.0.0.1:${await closedPort()}`;
    t.after(() => {
      if (before === undefined) {
        delete process.env['http_proxy'];
      } else {
        process.env['http_proxy'] = before;
      }
    });
    const url = await serveHttp(t, answer);
    assert.equal((await ask(openClient(t), targetAt(url))).status, 200);
  });

  for (const httpProxy of ['ftp://user:hidden@127.0.0.1', 'http://user:hidden@', 'socks5://hidden']) {
    it(`that is no http URL is refused without telling it: ${httpProxy.slice(0, 6)}`, (t) => {
      assert.throws(() => openClient(t, { proxy: { httpProxy } }), {
        message: 'Expected the proxy of the environment to be an http:// or https:// URL',
      });
    });
  }
});

describe('a tunnel that fails', () => {
  const TARGET = targetAt('https://127.0.0.1:1');

  it('for want of a proxy is connect', async (t) => {
    const httpsProxy = `http://127.0.0.1:${await closedPort()}`;
    await failsWith(ask(openClient(t, { proxy: { httpsProxy } }), TARGET), 'connect');
  });

  for (const status of ['403 Forbidden', '407 Proxy Authentication Required', '502 Bad Gateway']) {
    it(`with ${status} is connect`, async (t) => {
      const httpsProxy = await serveRaw(t, (socket) => socket.end(`HTTP/1.1 ${status}\r\n\r\n`));
      await failsWith(ask(openClient(t, { proxy: { httpsProxy } }), TARGET), 'connect');
    });
  }

  for (const [name, end] of [
    ['closes', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ] as const) {
    it(`as the proxy ${name} the connection is connect, and is not tried without end`, async (t) => {
      let requests = 0;
      const httpsProxy = await serveRaw(t, (socket) => {
        requests += 1;
        end(socket);
      });
      const error = await failsWith(ask(openClient(t, { proxy: { httpsProxy } }), TARGET), 'connect');
      assert.equal(error.message, 'The proxy broke the connection');
      assert.equal(requests, 1);
    });
  }

  it('in silence is timeout', async (t) => {
    const httpsProxy = await serveRaw(t, () => undefined);
    const client = openClient(t, { proxy: { httpsProxy }, connectTimeoutMs: 50 });
    await failsWith(ask(client, TARGET), 'timeout');
  });

  it('with a proxy that demands credentials for plain http is connect', async (t) => {
    const httpProxy = await serveHttp(t, (_request, response) => {
      response.writeHead(407).end('who are you?');
    });
    await failsWith(ask(openClient(t, { proxy: { httpProxy } }), targetAt('http://127.0.0.1:1')), 'connect');
  });
});
