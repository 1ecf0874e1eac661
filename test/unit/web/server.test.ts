import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, linkSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { Server } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { respondText } from '../../../src/web/http-messages.ts';
import type { WebServerOptions } from '../../../src/web/server.ts';
import { deferred } from '../../support/deferred.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { isLinux } from '../../support/linux.ts';
import { waitForValue } from '../../support/wait-until.ts';
import { readResponse, requestOverHttp, SERVER_CERTIFICATE, startSecuredServer } from './secured-server.ts';

const HOST = '127.0.0.1';

const start = (t: TestContext, overrides: Partial<WebServerOptions> = {}) =>
  startSecuredServer(t, '', { handle: () => Promise.resolve(respondText(200, 'hello')), ...overrides });

/** A handler that blocks `/slow` until `open` is called. */
function createGate() {
  const [entered, open] = [deferred(), deferred()];
  const handle: WebServerOptions['handle'] = async ({ url }) => {
    if (url !== '/slow') return respondText(200, 'fast');
    entered.resolve();
    await open.promise;
    return respondText(200, 'slow');
  };
  return { handle, entered: entered.promise, open: open.resolve };
}

test('it listens on several addresses and sends the responses of the handler', async (t) => {
  const { server } = await start(t, { addresses: [0, 0].map((port) => ({ host: HOST, port })) });
  for (const { port = 0 } of server.addresses) {
    const { status, headers, body } = await requestOverHttp(port);
    assert.deepEqual([status, headers['cache-control'], body], [200, 'no-store', 'hello\n']);
  }
});

test('if one address is taken, it listens on none', async (t) => {
  const { port: taken } = await start(t);
  const { server, port: free } = await start(t);
  await server[Symbol.asyncDispose]();
  const both = [free, taken].map((port) => ({ host: HOST, port }));
  await assert.rejects(start(t, { addresses: both }), /which another process uses \(EADDRINUSE\)/);
  const { port } = await start(t, { addresses: [{ host: HOST, port: free }] });
  assert.equal(port, free);
});

test('an address whose name is unknown is an error that names it', (t) =>
  assert.rejects(
    start(t, { addresses: [{ host: 'a..b', port: 0 }] }),
    /found "a\.\.b:0", whose name is unknown \(ENOTFOUND\)/,
  ));

test('a link-local address without a zone is an error that asks for it', (t) =>
  assert.rejects(
    start(t, { addresses: [{ host: 'fe80::1', port: 0 }] }),
    /found "\[fe80::1\]:0", which needs the zone of an interface, as in \[fe80::1%eth0\] \(E\w+\)/,
  ));

for (const [name, ips, expected] of [
  ['every address', ['127.0.0.1', '127.0.0.2'], ['127.0.0.1', '127.0.0.2']],
  ['each address once', ['127.0.0.1', '127.0.0.1'], ['127.0.0.1']],
  ['the address that the machine has', ['203.0.113.1', '127.0.0.1'], ['127.0.0.1']],
  ['the address of a family that the machine has', ['2001:db8::1', '127.0.0.1'], ['127.0.0.1']],
] as const) {
  test(`of a name, it listens on ${name}, all with one port`, async (t) => {
    if (name === 'every address' && !isLinux(t, '127.0.0.2')) return;
    const addresses = [{ host: 'exporter.example', port: 0 }];
    const { server, port } = await start(t, { addresses, resolve: () => Promise.resolve(ips) });
    assert.deepEqual(
      server.addresses,
      expected.map((host) => ({ host, port })),
    );
  });
}

test('a name without an address of this machine is an error', (t) =>
  assert.rejects(
    start(t, {
      addresses: [{ host: 'exporter.example', port: 0 }],
      resolve: () => Promise.resolve(['198.51.100.1', '203.0.113.1']),
    }),
    /found "exporter\.example:0", which is no address of this machine \(EADDRNOTAVAIL\)/,
  ));

/** Sends a request through a Unix socket. */
const sendThrough = (socketPath: string, path = '/') =>
  readResponse(request({ socketPath, path, agent: false }).end());

test('it listens on a Unix socket with mode 0660, replaces a stale one, and removes it at shutdown', async (t) => {
  using folder = new TemporaryFolder();
  const socketPath = folder.at('exporter.sock');
  const handle: WebServerOptions['handle'] = (received) =>
    Promise.resolve(respondText(200, String(received.socketPath)));
  const stale = new Server().listen(socketPath);
  await once(stale, 'listening');
  // A killed process leaves its socket behind.
  linkSync(socketPath, folder.at('left'));
  stale.close();
  await once(stale, 'close');
  renameSync(folder.at('left'), socketPath);
  const { server } = await start(t, { addresses: [{ socketPath }], handle });
  assert.deepEqual(server.addresses, [{ socketPath }]);
  assert.equal(statSync(socketPath).mode & 0o777, 0o660);
  assert.equal((await sendThrough(socketPath)).body, `${socketPath}\n`);
  await assert.rejects(
    start(t, { addresses: [{ socketPath }] }),
    /which another process uses \(EADDRINUSE\)/,
  );
  assert.equal((await sendThrough(socketPath)).status, 200);
  await server[Symbol.asyncDispose]();
  assert.equal(existsSync(socketPath), false);
});

for (const [name, path, expected] of [
  ['a file', 'file', /file", where something else than a socket is \(ENOTSOCK\)/],
  ['a missing folder', 'none/exporter.sock', /whose folder does not exist \(ENOENT\)/],
  ['a file as its folder', 'file/exporter.sock', /whose folder does not exist \(ENOTDIR\)/],
] as const) {
  test(`${name} in place of a Unix socket is a wrong configuration`, async (t) => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at('file'), 'kept');
    const addresses = [{ socketPath: folder.at(path) }];
    await assert.rejects(start(t, { addresses }), { name: 'ConfigError', message: expected });
    assert.equal(readFileSync(folder.at('file'), 'utf8'), 'kept');
  });
}

test('TLS and a Unix socket exclude each other', (t) =>
  assert.rejects(
    startSecuredServer(t, `tls_server_config: { ${SERVER_CERTIFICATE} }`, {
      addresses: [{ socketPath: '/nowhere/exporter.sock' }],
    }),
    {
      name: 'ConfigError',
      message: /^web\.listen_address: expected addresses with a port, because tls_server_config /,
    },
  ));

test('of one client, four responses are created at a time, two requests wait, and others get a 503', async (t) => {
  const created: (() => void)[] = [];
  const handle: WebServerOptions['handle'] = async ({ url }) => {
    if (url !== '/-/healthy') await new Promise<void>((resolve) => created.push(resolve));
    return respondText(200, url);
  };
  const { port, metrics } = await start(t, { handle });
  const requests = Array.from({ length: 7 }, (_, index) => requestOverHttp(port, `/${index}`));
  const rejected = await Promise.race(requests);
  assert.deepEqual(
    [rejected.status, rejected.headers['retry-after'], rejected.body],
    [503, '1', 'Too many concurrent requests.\n'],
  );
  assert.deepEqual([created.length, metrics.rejected], [4, ['max_requests']]);
  assert.equal((await requestOverHttp(port, '/-/healthy')).status, 200);
  for (const resolve of created.splice(0)) resolve();
  await waitForValue(() => created.length, 2);
  for (const resolve of created) resolve();
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 6);
});

test('a request to upgrade the protocol is an ordinary request', async (t) => {
  const { port } = await start(t);
  const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': '' };
  const { status } = await requestOverHttp(port, '/', { headers });
  assert.equal(status, 200);
});

test('a failing handler is logged and gets a 500 without details', async (t) => {
  const failure = new Error('inner detail');
  const { port, lines } = await start(t, { handle: () => Promise.reject(failure) });
  const { status, body } = await requestOverHttp(port, '/metrics');
  assert.deepEqual([status, body], [500, 'Internal server error.\n']);
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? '',
    /"level":"error".*inner detail.*"method":"GET","url":"\/metrics","msg":"Request failed"/,
  );
});

test('a client that disconnects aborts its request, without a log line', async (t) => {
  const [entered, aborted] = [deferred(), deferred()];
  const handle: WebServerOptions['handle'] = async ({ signal }) => {
    entered.resolve();
    if (signal !== undefined) await once(signal, 'abort');
    aborted.resolve();
    throw new Error('aborted');
  };
  const { port, lines } = await start(t, { handle });
  const outgoing = request({ host: HOST, port, agent: false }).end();
  const failed = once(outgoing, 'error');
  await entered.promise;
  outgoing.destroy(new Error('disconnected'));
  await Promise.all([failed, aborted.promise]);
  assert.deepEqual(lines, []);
});

test('closing finishes requests in flight and accepts no new ones', async (t) => {
  const { handle, entered, open } = createGate();
  const { server, port } = await start(t, { handle });
  const slow = requestOverHttp(port, '/slow');
  await entered;
  const closed = server[Symbol.asyncDispose]();
  await assert.rejects(requestOverHttp(port), { code: 'ECONNREFUSED' });
  open();
  const { body, headers } = await slow;
  assert.deepEqual([body, headers.connection], ['slow\n', 'close']);
  await closed;
});

test('closing does not wait for idle connections', async (t) => {
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const { server, port } = await start(t);
  await requestOverHttp(port, '/', { agent });
  await server[Symbol.asyncDispose]();
});

test('after the deadline, closing ends requests in flight', async (t) => {
  const { handle, entered, open } = createGate();
  const { server, port, clock } = await start(t, { handle });
  const slow = assert.rejects(requestOverHttp(port, '/slow'), { code: 'ECONNRESET' });
  await entered;
  const closed = server[Symbol.asyncDispose]();
  clock.advance(5000);
  await Promise.all([slow, closed]);
  open();
});
