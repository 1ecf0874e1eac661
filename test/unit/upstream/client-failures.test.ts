import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, it, test } from 'node:test';

import { UpstreamError } from '../../../src/upstream/errors.ts';
import { deferred } from '../../support/deferred.ts';
import { collectListing, assertFailsWith, openClient, targetAt } from './collect-listing.ts';
import { waitForClose, listen, serveHttp, serveRaw } from '../../support/servers.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const BEGUN = `${HEAD}content-length: 10\r\n\r\n{`;
const WHOLE = `${HEAD}content-length: 10\r\n\r\n{"ret": 0}`;

const CONNECTIONS = 8;

/** Closes a connection with RST. */
function reset(socket: Socket): void {
  socket.resetAndDestroy();
}

function end(socket: Socket): void {
  socket.end();
}

test('a request that waits for a connection until its deadline is timeout and is not sent', async (t) => {
  let requests = 0;
  const first = deferred<Socket>();
  const url = await serveRaw(t, (socket) => {
    requests += 1;
    first.resolve(socket);
  });
  const client = openClient(t, { maxConnections: 1 });
  const blocking = collectListing(client, targetAt(url));
  const socket = await first.promise;
  const waited = await assertFailsWith(collectListing(client, targetAt(url, { timeoutMs: 100 })), 'timeout');
  assert.equal(waited.message, 'No connection to the service was free within 0.1s');
  assert.equal(requests, 1);
  socket.write(WHOLE);
  assert.equal((await blocking).status, 200);
});

/** Ends a connection before the last byte of a response. */
function cutOff(socket: Socket): void {
  socket.end(WHOLE.slice(0, -1));
}

/** Writes a response that answers no request. */
function respondWith(status: string): (socket: Socket) => void {
  return (socket) => void socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);
}

describe('a kept-alive connection that is lost', () => {
  for (const [name, losses, reason] of [
    ['closed on the next request is replaced', [end], undefined],
    ['reset on the next request is replaced', [reset], undefined],
    ['given up with 408 is replaced', [respondWith('408 Request Timeout')], undefined],
    ['given up with 421 is replaced', [respondWith('421 Misdirected Request')], undefined],
    ['reset is replaced only once', [reset, reset], 'reset'],
    ['cut off after the headers is not replaced', [cutOff], 'reset'],
  ] as const) {
    it(`and ${name}; a request that is sent again is signed again`, async (t) => {
      const heads: string[] = [];
      const url = await serveRaw(t, (socket, { head, ordinal }) => {
        heads.push(head);
        const lose = losses[ordinal - 2];
        if (lose === undefined) socket.write(WHOLE);
        else lose(socket);
      });
      const client = openClient(t);
      await collectListing(client, targetAt(url));
      const request = collectListing(client, targetAt(url));
      if (reason === undefined) assert.equal((await request).body.toString(), '{"ret": 0}');
      else await assertFailsWith(request, reason);
      assert.equal(heads.length, losses.includes(cutOff) ? 2 : 3);
      for (const head of heads) assert.match(head, /xvs-signature: c576f321/);
    });
  }

  it('is not what a service has that answers 408 to a first request', async (t) => {
    let requests = 0;
    const url = await serveHttp(t, (_request, response) => {
      requests += 1;
      response.writeHead(408).end();
    });
    assert.equal((await collectListing(openClient(t), targetAt(url))).status, 408);
    assert.equal(requests, 1);
  });

  it('is replaced by a fresh one, although all others are lost as well', async (t) => {
    const together = deferred();
    const waiting: Socket[] = [];
    const url = await serveRaw(t, (socket, { ordinal }) => {
      if (ordinal > CONNECTIONS) {
        // The restarted service knows none of the earlier connections.
        if (waiting.includes(socket)) reset(socket);
        else socket.write(WHOLE);
        return;
      }
      waiting.push(socket);
      if (ordinal === CONNECTIONS) together.resolve();
    });
    const client = openClient(t, { maxConnections: CONNECTIONS });
    const first = Array.from({ length: CONNECTIONS }, () => collectListing(client, targetAt(url)));
    await together.promise;
    for (const socket of waiting) socket.write(WHOLE);
    await Promise.all(first);
    for (let poll = 0; poll < CONNECTIONS; poll += 1)
      assert.equal((await collectListing(client, targetAt(url))).status, 200);
  });
});

describe('the caller', () => {
  for (const status of [200, 500]) {
    it(`receives the error of its consumer unchanged after status ${status}, and the connection is closed`, async (t) => {
      const closed = deferred();
      const url = await serveHttp(t, (_request, response) => {
        response.on('close', closed.resolve);
        response.writeHead(status).write('{');
      });
      const thrown = new UpstreamError('not_json', 'from the consumer');
      const consume = (): void => {
        throw thrown;
      };
      const request = openClient(t).requestListing(targetAt(url), consume, new AbortController().signal);
      await assert.rejects(request, (error) => error === thrown);
      await closed.promise;
    });
  }

  for (const [name, answer] of [
    ['before the headers', (): void => undefined],
    ['within the body', (socket: Socket) => socket.write(BEGUN)],
    ['from its consumer', (socket: Socket) => socket.write(BEGUN)],
    [
      'within the body of a failure',
      (socket: Socket) => socket.write('HTTP/1.1 500 X\r\ncontent-length: 10\r\n\r\n{'),
    ],
  ] as const) {
    it(`can abort a request ${name}, with its own reason`, async (t) => {
      const arrived = deferred<Socket>();
      const url = await serveRaw(t, (socket) => {
        answer(socket);
        arrived.resolve(socket);
      });
      const controller = new AbortController();
      const reason = new Error('aborted by the caller');
      const abort = (): void => controller.abort(reason);
      const consume = name === 'from its consumer' ? abort : (): void => undefined;
      const request = openClient(t).requestListing(targetAt(url), consume, controller.signal);
      const socket = await arrived.promise;
      if (consume !== abort) abort();
      await assert.rejects(request, (error) => error === reason);
      await waitForClose(socket);
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
    });
  }

  it('has no listeners left on a signal that outlives its requests', async (t) => {
    const url = await serveHttp(t, (_request, response) => response.end('{}'));
    const controller = new AbortController();
    const client = openClient(t);
    for (let round = 0; round < 20; round += 1) {
      await client.requestListing(targetAt(url), () => undefined, controller.signal);
    }
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
  });
});

describe('a client that is closed', () => {
  for (const [name, options] of [
    ['directly', () => ({})],
    ['through a proxy', (proxy: string) => ({ proxy: { httpProxy: proxy, httpsProxy: proxy } })],
  ] as const) {
    it(`aborts its requests and closes its connections, those being opened included, ${name}`, async (t) => {
      const arrived = [deferred<Socket>(), deferred<Socket>()];
      let ordinal = 0;
      const port = await listen(
        t,
        createServer((socket) => {
          arrived[ordinal]?.resolve(socket);
          ordinal += 1;
        }),
      );
      const client = openClient(t, options(`http://127.0.0.1:${port}`));
      const targets = [`https://127.0.0.1:${port}`, `http://127.0.0.1:${port}`];
      const settled = Promise.allSettled(targets.map((url) => collectListing(client, targetAt(url))));
      const sockets = await Promise.all(arrived.map(({ promise }) => promise));
      const closed = sockets.map(waitForClose);
      await client[Symbol.asyncDispose]();
      await Promise.all(closed);
      assert.deepEqual(
        (await settled).map(({ status }) => status),
        ['rejected', 'rejected'],
      );
    });
  }

  it('has no connection and no timer left, and rejects requests', async (t) => {
    const arrived = deferred<Socket>();
    const url = await serveRaw(t, (socket) => {
      arrived.resolve(socket.on('end', () => socket.end()));
      socket.write(WHOLE);
    });
    const client = openClient(t);
    await collectListing(client, targetAt(url));
    const closed = waitForClose(await arrived.promise);
    await client[Symbol.asyncDispose]();
    await closed;
    assert.doesNotMatch(process.getActiveResourcesInfo().join(), /Timeout|TCPSocketWrap/);
    await assertFailsWith(collectListing(client, targetAt(url)), 'connect');
  });
});
