import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';

import { UpstreamError } from '../../src/upstream/errors.ts';
import { ask, deferred, failsWith, openClient, targetAt } from './asking.ts';
import { closedPort, closeOf, listen, serveHttp, serveRaw } from './servers.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const WHOLE = `${HEAD}content-length: 10\r\n\r\n{"ret": 0}`;

/** Ends a connection with RST. */
function reset(socket: Socket): void {
  socket.resetAndDestroy();
}

function end(socket: Socket): void {
  socket.end();
}

describe('a request that fails', () => {
  it('for want of a server is connect', async (t) => {
    const port = await closedPort();
    const error = await failsWith(ask(openClient(t), targetAt(`http://127.0.0.1:${port}`)), 'connect');
    assert.equal(error.message, 'No connection to the service could be made (ECONNREFUSED)');
  });

  it('for want of a name is dns', async (t) => {
    await failsWith(ask(openClient(t), targetAt('http://nowhere.invalid')), 'dns');
  });

  for (const [name, sent, close] of [
    ['reset before its answer', '', reset],
    ['closed before its answer', '', end],
    ['reset within the header', HEAD, reset],
    ['closed within the header', HEAD, end],
    ['reset after the header', `${HEAD}content-length: 10\r\n\r\n`, reset],
    ['closed before content-length is reached', `${HEAD}content-length: 10\r\n\r\n{"ret`, end],
    ['reset before content-length is reached', `${HEAD}content-length: 10\r\n\r\n{"ret`, reset],
    [
      'closed, as it said it would, too early',
      `${HEAD}connection: close\r\ncontent-length: 10\r\n\r\n{"ret`,
      end,
    ],
    ['closed within a chunk', `${HEAD}transfer-encoding: chunked\r\n\r\na\r\n{"ret`, end],
    ['reset within a chunk', `${HEAD}transfer-encoding: chunked\r\n\r\na\r\n{"ret`, reset],
    ['closed before the last chunk', `${HEAD}transfer-encoding: chunked\r\n\r\na\r\n{"ret": 0}\r\n`, end],
    [
      'closed, as it said it would, before the last chunk',
      `${HEAD}connection: close\r\ntransfer-encoding: chunked\r\n\r\na\r\n{"ret": 0}\r\n`,
      end,
    ],
  ] as const) {
    it(`by a connection ${name} is reset, and is not repeated`, async (t) => {
      let requests = 0;
      const url = await serveRaw(t, (socket) => {
        requests += 1;
        // The bytes of an answer are let through before a RST, which would overtake them.
        socket.write(sent, () => setImmediate(close, socket));
      });
      await failsWith(ask(openClient(t), targetAt(url)), 'reset');
      assert.equal(requests, 1);
    });
  }

  for (const [name, sent] of [
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.2p1 rtmp://live/hidden\r\n'],
    ['has a broken chunk', `${HEAD}transfer-encoding: chunked\r\n\r\nxyz\r\n{"ret`],
  ] as const) {
    it(`by an answer that ${name} is not_json`, async (t) => {
      const url = await serveRaw(t, (socket) => socket.write(sent));
      await failsWith(ask(openClient(t), targetAt(url)), 'not_json');
    });
  }

  it('by a header without end is too_large', async (t) => {
    const url = await serveRaw(t, (socket) => socket.write(`${HEAD}x-fill: ${'x'.repeat(100_000)}\r\n\r\n`));
    await failsWith(ask(openClient(t), targetAt(url)), 'too_large');
  });
});

describe('a request that takes too long', { concurrency: true }, () => {
  it('to connect is timeout', async (t) => {
    const port = await listen(t, createServer());
    const client = openClient(t, { connectTimeoutMs: 50 });
    const error = await failsWith(ask(client, targetAt(`https://127.0.0.1:${port}`)), 'timeout');
    assert.match(error.message, /UND_ERR_CONNECT_TIMEOUT/);
  });

  it('to begin its answer is timeout', async (t) => {
    const url = await serveRaw(t, () => undefined);
    const error = await failsWith(ask(openClient(t, { headersTimeoutMs: 50 }), targetAt(url)), 'timeout');
    assert.match(error.message, /UND_ERR_HEADERS_TIMEOUT/);
  });

  it('between two pieces of the body is timeout', async (t) => {
    const url = await serveRaw(t, (socket) => socket.write(`${HEAD}content-length: 10\r\n\r\n{"ret`));
    const error = await failsWith(ask(openClient(t, { idleTimeoutMs: 50 }), targetAt(url)), 'timeout');
    assert.match(error.message, /UND_ERR_BODY_TIMEOUT/);
  });

  for (const [name, answer] of [
    ['in silence', () => undefined],
    ['in silence after the header', (socket: Socket) => socket.write(`${HEAD}content-length: 10\r\n\r\n`)],
    [
      'drop by drop',
      (socket: Socket) => {
        socket.write(`${HEAD}content-length: 1000000\r\n\r\n`);
        const drip = setInterval(() => socket.write(' '), 5);
        socket.on('close', () => {
          clearInterval(drip);
        });
      },
    ],
  ] as const) {
    it(`in all, ${name}, is timeout`, async (t) => {
      const url = await serveRaw(t, answer);
      const error = await failsWith(ask(openClient(t), targetAt(url, { timeoutMs: 100 })), 'timeout');
      assert.equal(error.message, 'The poll took longer than it may');
    });
  }

  it('in all, still connecting, is timeout', async (t) => {
    const port = await listen(t, createServer());
    const target = targetAt(`https://127.0.0.1:${port}`, { timeoutMs: 100 });
    await failsWith(ask(openClient(t), target), 'timeout');
  });

  it('in all, waiting for a connection, is timeout', async (t) => {
    let requests = 0;
    const url = await serveRaw(t, () => {
      requests += 1;
    });
    const client = openClient(t, { maxConnections: 1 });
    const both = [
      ask(client, targetAt(url, { timeoutMs: 150 })),
      ask(client, targetAt(url, { timeoutMs: 100 })),
    ];
    await Promise.all(both.map((asked) => failsWith(asked, 'timeout')));
    assert.equal(requests, 1);
  });

  it('leaves the client fit for the next', async (t) => {
    const url = await serveRaw(t, (socket, { ordinal }) => {
      if (ordinal > 1) {
        socket.write(WHOLE);
      }
    });
    const client = openClient(t, { maxConnections: 1 });
    await failsWith(ask(client, targetAt(url, { timeoutMs: 100 })), 'timeout');
    assert.equal((await ask(client, targetAt(url))).status, 200);
  });
});

describe('a kept-alive connection that breaks', () => {
  for (const [name, close] of [
    ['closed', end],
    ['reset', reset],
  ] as const) {
    it(`is replaced once when it is ${name} on the next request, signed anew`, async (t) => {
      const heads: string[] = [];
      const url = await serveRaw(t, (socket, { head, ordinal }) => {
        heads.push(head);
        if (ordinal === 2) {
          close(socket);
        } else {
          socket.write(WHOLE);
        }
      });
      const client = openClient(t);
      await ask(client, targetAt(url));
      assert.equal((await ask(client, targetAt(url))).body.toString(), '{"ret": 0}');
      assert.equal(heads.length, 3);
      assert.match(heads[2] ?? '', /xvs-signature: c576f321/);
    });
  }

  it('is replaced no more than once', async (t) => {
    let requests = 0;
    const url = await serveRaw(t, (socket, { ordinal }) => {
      requests = ordinal;
      if (ordinal === 1) {
        socket.write(WHOLE);
      } else {
        reset(socket);
      }
    });
    const client = openClient(t);
    await ask(client, targetAt(url));
    await failsWith(ask(client, targetAt(url)), 'reset');
    assert.equal(requests, 3);
  });

  it('is not replaced once the header has arrived', async (t) => {
    let requests = 0;
    const url = await serveRaw(t, (socket, { ordinal }) => {
      requests = ordinal;
      if (ordinal === 1) {
        socket.write(WHOLE);
      } else {
        socket.end(WHOLE.slice(0, -1));
      }
    });
    const client = openClient(t);
    await ask(client, targetAt(url));
    await failsWith(ask(client, targetAt(url)), 'reset');
    assert.equal(requests, 2);
  });
});

describe('the caller', () => {
  it('gets back exactly what its consumer throws, and the connection ends', async (t) => {
    const closed = deferred<void>();
    const url = await serveHttp(t, (_request, response) => {
      response.on('close', closed.resolve);
      response.write('{');
    });
    const thrown = new Error('from the consumer');
    const consume = (): void => {
      throw thrown;
    };
    const asked = openClient(t).requestListing(targetAt(url), consume, new AbortController().signal);
    await assert.rejects(asked, (error) => error === thrown);
    await closed.promise;
  });

  it('gets back what its consumer throws on an answer other than 2xx', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      response.writeHead(500).end('sorry');
    });
    const thrown = new UpstreamError('not_json', 'from the consumer');
    const consume = (): void => {
      throw thrown;
    };
    const asked = openClient(t).requestListing(targetAt(url), consume, new AbortController().signal);
    await assert.rejects(asked, (error) => error === thrown);
  });

  for (const [name, answer] of [
    ['before the header', (): void => undefined],
    ['within the body', (socket: Socket) => socket.write(`${HEAD}content-length: 10\r\n\r\n{`)],
    [
      'within the body of a failure',
      (socket: Socket) => socket.write('HTTP/1.1 500 X\r\ncontent-length: 10\r\n\r\n{'),
    ],
  ] as const) {
    it(`can end a request ${name}, with its own reason`, async (t) => {
      const arrived = deferred<Socket>();
      const url = await serveRaw(t, (socket) => {
        answer(socket);
        arrived.resolve(socket);
      });
      const controller = new AbortController();
      const asked = openClient(t).requestListing(targetAt(url), () => undefined, controller.signal);
      const socket = await arrived.promise;
      const reason = new Error('the caller has had enough');
      controller.abort(reason);
      await assert.rejects(asked, (error) => error === reason);
      await closeOf(socket);
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
    });
  }

  it('can end a request from within its consumer', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      response.write('{');
    });
    const controller = new AbortController();
    const reason = new Error('the caller has had enough');
    const consume = (): void => {
      controller.abort(reason);
    };
    const asked = openClient(t).requestListing(targetAt(url), consume, controller.signal);
    await assert.rejects(asked, (error) => error === reason);
  });

  it('that had ended it before sends nothing', async (t) => {
    let connections = 0;
    const server = createServer(() => {
      connections += 1;
    });
    const port = await listen(t, server);
    const reason = new Error('never mind');
    const client = openClient(t);
    const target = targetAt(`http://127.0.0.1:${port}`);
    await assert.rejects(
      client.requestListing(target, () => undefined, AbortSignal.abort(reason)),
      (error) => error === reason,
    );
    assert.equal(connections, 0);
  });

  it('leaves nothing on a signal that outlives its requests', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      response.end('{}');
    });
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
    it(`ends its requests and its connections, made or being made, ${name}`, async (t) => {
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
      const settled = Promise.allSettled(targets.map((url) => ask(client, targetAt(url))));
      const sockets = await Promise.all(arrived.map(({ promise }) => promise));
      const closed = sockets.map(closeOf);
      await client[Symbol.asyncDispose]();
      await Promise.all(closed);
      assert.deepEqual(
        (await settled).map(({ status }) => status),
        ['rejected', 'rejected'],
      );
    });
  }

  it('keeps no connection and no timer, and answers no more', async (t) => {
    const arrived = deferred<Socket>();
    const url = await serveRaw(t, (socket) => {
      arrived.resolve(socket.on('end', () => socket.end()));
      socket.write(WHOLE);
    });
    const client = openClient(t);
    await ask(client, targetAt(url));
    const closed = closeOf(await arrived.promise);
    await client[Symbol.asyncDispose]();
    await closed;
    assert.doesNotMatch(process.getActiveResourcesInfo().join(), /Timeout|TCPSocketWrap/);
    await failsWith(ask(client, targetAt(url)), 'connect');
  });
});
