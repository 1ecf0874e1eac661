import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createLogger } from '../../src/log.ts';
import { OPEN_SOURCE } from '../../src/web/config/web-configuration-source.ts';
import { respondText } from '../../src/web/response.ts';
import { startWebServer } from '../../src/web/server.ts';
import type { WebServer, WebServerOptions } from '../../src/web/server.ts';

const HOST = '127.0.0.1';

/** A server on free ports whose deadline on closing passes when `pass` is called. */
async function start(t: TestContext, overrides: Partial<WebServerOptions> = {}) {
  const lines: string[] = [];
  const deadline = withResolvers();
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
        void deadline.promise.then(resolve);
      }),
  };
  const server = await startWebServer({
    addresses: [{ host: HOST, port: 0 }],
    handle: () => Promise.resolve(respondText(200, 'hello')),
    maxRequests: 40,
    maxConnections: 64,
    guardedBy: OPEN_SOURCE,
    opensProbes: false,
    clock,
    logger: createLogger({
      level: 'debug',
      format: 'json',
      destination: { write: (line) => lines.push(line) },
    }),
    ...overrides,
  });
  t.after(async () => {
    deadline.resolve();
    await server[Symbol.asyncDispose]();
  });
  return { server, lines, port: portOf(server), pass: deadline.resolve };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  const emitter = new EventEmitter();
  const promise = once(emitter, 'resolved').then(() => undefined);
  return { promise, resolve: () => void emitter.emit('resolved') };
}

function portOf(server: WebServer, index = 0): number {
  return server.addresses[index]?.port ?? Number.NaN;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function ask(
  port: number,
  path = '/',
  options: { method?: string; agent?: Agent } = {},
): Promise<Answer> {
  const outgoing = request({ host: HOST, port, path, agent: false, ...options }).end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
}

/** A handler that waits to be let go, and tells when it was entered. */
function gate() {
  const [entered, open] = [withResolvers(), withResolvers()];
  const handle: WebServerOptions['handle'] = async ({ url }) => {
    if (url !== '/slow') return respondText(200, 'fast');
    entered.resolve();
    await open.promise;
    return respondText(200, 'slow');
  };
  return { handle, entered: entered.promise, open: open.resolve };
}

test('it listens on several addresses and passes on what the handler answers', async (t) => {
  const { server } = await start(t, { addresses: [0, 0].map((port) => ({ host: HOST, port })) });
  for (const index of [0, 1]) {
    const { status, headers, body } = await ask(portOf(server, index));
    assert.deepEqual([status, headers['cache-control'], body], [200, 'no-store', 'hello\n']);
  }
});

test('where one address is taken it listens on none', async (t) => {
  const { port: taken } = await start(t);
  const { server, port: free } = await start(t);
  await server[Symbol.asyncDispose]();
  const both = [free, taken].map((port) => ({ host: HOST, port }));
  await assert.rejects(start(t, { addresses: both }), { code: 'EADDRINUSE' });
  const { port } = await start(t, { addresses: [{ host: HOST, port: free }] });
  assert.equal(port, free);
});

test('an answer to HEAD has a length and no body', async (t) => {
  const answer = { ...respondText(200, 'hello'), body: '' };
  const { port } = await start(t, { handle: () => Promise.resolve(answer) });
  const { headers, body } = await ask(port, '/', { method: 'HEAD' });
  assert.deepEqual([headers['content-length'], body], ['6', '']);
});

test('beyond the limit requests are refused, but for probes', async (t) => {
  const { handle, entered, open } = gate();
  const { port } = await start(t, { handle, maxRequests: 1 });
  const slow = ask(port, '/slow');
  await entered;
  const [refused, probe] = [await ask(port, '/fast'), await ask(port, '/-/healthy')];
  assert.deepEqual([refused.status, refused.body], [503, 'Too many requests at a time.\n']);
  assert.equal(probe.status, 200);
  open();
  assert.equal((await slow).body, 'slow\n');
  assert.equal((await ask(port, '/fast')).status, 200);
});

test('a handler that fails is answered with 500 without details, and logged', async (t) => {
  const failure = new Error('inner detail');
  const { port, lines } = await start(t, { handle: () => Promise.reject(failure) });
  const { status, body } = await ask(port, '/metrics');
  assert.deepEqual([status, body], [500, 'Internal server error.\n']);
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? '',
    /"level":"error".*inner detail.*"method":"GET","url":"\/metrics","msg":"Request failed"/,
  );
});

test('a client that goes away aborts its request, without a line in the log', async (t) => {
  const [entered, gone] = [withResolvers(), withResolvers()];
  const handle: WebServerOptions['handle'] = async ({ signal }) => {
    entered.resolve();
    if (signal !== undefined) await once(signal, 'abort');
    gone.resolve();
    throw new Error('gone');
  };
  const { port, lines } = await start(t, { handle });
  const outgoing = request({ host: HOST, port, agent: false }).end();
  const failed = once(outgoing, 'error');
  await entered.promise;
  outgoing.destroy(new Error('enough'));
  await Promise.all([failed, gone.promise]);
  assert.deepEqual(lines, []);
});

test('closing lets requests in flight end, and takes no new ones', async (t) => {
  const { handle, entered, open } = gate();
  const { server, port } = await start(t, { handle });
  const slow = ask(port, '/slow');
  await entered;
  const closed = server[Symbol.asyncDispose]();
  await assert.rejects(ask(port), { code: 'ECONNREFUSED' });
  open();
  const { body, headers } = await slow;
  assert.deepEqual([body, headers.connection], ['slow\n', 'close']);
  await closed;
});

test('closing does not wait for connections that are idle', async (t) => {
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const { server, port } = await start(t);
  await ask(port, '/', { agent });
  await server[Symbol.asyncDispose]();
});

test('after the deadline closing breaks off what is in flight', async (t) => {
  const { handle, entered, open } = gate();
  const { server, port, pass } = await start(t, { handle });
  const slow = assert.rejects(ask(port, '/slow'), { code: 'ECONNRESET' });
  await entered;
  const closed = server[Symbol.asyncDispose]();
  pass();
  await Promise.all([slow, closed]);
  open();
});
