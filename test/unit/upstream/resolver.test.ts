import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Resolver } from '../../../src/upstream/resolver.ts';
import { assertFailsWith, collectListing, openClient, targetAt } from './collect-listing.ts';
import { serveHttp, serveRaw } from '../../support/servers.ts';

const ADDRESS: LookupAddress = { address: '127.0.0.1', family: 4 };

type Answer = (error: Error | null, addresses: LookupAddress[]) => void;

/** A resolver with lookups that wait for their answer, and a clock that a test moves. */
function createResolver() {
  const lookups: { readonly hostname: string; readonly answer: Answer }[] = [];
  const time = { nowMs: 0 };
  const sleeps: { readonly ms: number; readonly wake: () => void }[] = [];
  const lookup = (hostname: string, _options: unknown, answer: Answer): void =>
    void lookups.push({ hostname, answer });
  const resolver = new Resolver({
    clock: {
      monotonic: () => time.nowMs,
      sleep: (ms) => new Promise((wake) => void sleeps.push({ ms, wake })),
    },
    lookup,
  });
  const resolve = (hostname: string): Promise<unknown> =>
    resolver.resolve(hostname).catch((error: unknown) => error);
  return { resolver, resolve, lookup, lookups, time, sleeps };
}

function createError(code: string): Error {
  return Object.assign(new Error(`getaddrinfo ${code}`), { code });
}

test('a name has one lookup at a time, whose answer all requests share', async () => {
  const { resolve, lookups } = createResolver();
  const answers = Promise.all([resolve('a.test'), resolve('a.test')]);
  await nextTurn();
  assert.equal(lookups.length, 1);
  lookups[0]?.answer(null, [ADDRESS]);
  assert.deepEqual(await answers, [[ADDRESS], [ADDRESS]]);
});

test('names whose lookup timed out share one thread, and other names pass them', async () => {
  const { resolve, lookups, time } = createResolver();
  const first = ['a.test', 'b.test', 'c.test'].map(resolve);
  await nextTurn();
  time.nowMs = 10_000;
  for (const { answer } of lookups.splice(0)) answer(createError('EAI_AGAIN'), []);
  await Promise.all(first);
  for (const hostname of ['a.test', 'b.test', 'c.test', 'healthy.test']) void resolve(hostname);
  await nextTurn();
  assert.deepEqual(
    lookups.map(({ hostname }) => hostname),
    ['a.test', 'healthy.test'],
  );
  lookups[0]?.answer(null, [ADDRESS]);
  await nextTurn();
  assert.deepEqual(lookups.at(-1)?.hostname, 'b.test');
});

test('the last addresses of a name are used if a lookup is slow or gets no answer', async () => {
  const { resolve, lookups, time, sleeps } = createResolver();
  const first = resolve('a.test');
  await nextTurn();
  lookups[0]?.answer(null, [ADDRESS]);
  assert.deepEqual(await first, [ADDRESS]);
  const unanswered = resolve('a.test');
  await nextTurn();
  lookups[1]?.answer(createError('EAI_AGAIN'), []);
  assert.deepEqual(await unanswered, [ADDRESS]);
  const slow = resolve('a.test');
  await nextTurn();
  sleeps.at(-1)?.wake();
  assert.deepEqual(await slow, [ADDRESS]);
  time.nowMs = 10_000;
  lookups[2]?.answer(createError('EAI_AGAIN'), []);
  await nextTurn();
  void resolve('a.test');
  // A name that was slow does not wait at all.
  assert.deepEqual(
    sleeps.map(({ ms }) => ms),
    [1000, 1000, 0],
  );
});

test('the address that connected last is the first one; one that failed is the last, for a minute', async () => {
  const { resolver, resolve, lookups, time } = createResolver();
  const list = (): unknown => {
    let found: unknown;
    resolver.lookup('a.test', { all: true }, (error, addresses) => (found = error ?? addresses));
    return found;
  };
  const find = async (addresses: LookupAddress[]): Promise<unknown> => {
    const resolved = resolve('a.test');
    await nextTurn();
    lookups.at(-1)?.answer(null, addresses);
    await resolved;
    return list();
  };
  const other: LookupAddress = { address: '::1', family: 6 };
  assert.deepEqual(await find([other, ADDRESS]), [other, ADDRESS]);
  resolver.noteConnected('a.test', ADDRESS.address);
  assert.deepEqual(await find([other, ADDRESS]), [ADDRESS, other]);
  assert.deepEqual(await find([other]), [other]);
  time.nowMs = 1;
  resolver.noteFailed('a.test', ADDRESS.address);
  assert.deepEqual(await find([other, ADDRESS]), [other, ADDRESS]);
  time.nowMs += 60_001;
  assert.deepEqual(await find([other, ADDRESS]), [ADDRESS, other]);
});

test('of several addresses that failed within a minute, the one that failed longest ago is tried first', async () => {
  const { resolver, resolve, lookups, time } = createResolver();
  const addresses = ['::1', '127.0.0.1', '127.0.0.2', '::2'].map((address) => ({ address, family: 4 }));
  const resolved = resolve('a.test');
  await nextTurn();
  lookups[0]?.answer(null, addresses);
  await resolved;
  for (const address of ['::1', '127.0.0.2', '127.0.0.1']) {
    time.nowMs += 15_000;
    resolver.noteFailed('a.test', address);
  }
  const order: string[] = [];
  resolver.lookup('a.test', { all: true }, (_error, found) => {
    if (Array.isArray(found)) order.push(...found.map(({ address }) => address));
  });
  assert.deepEqual(order, ['::2', '::1', '127.0.0.2', '127.0.0.1']);
});

test('a name that name servers deny is an error, although it had addresses', async () => {
  const { resolve, lookups } = createResolver();
  void resolve('a.test');
  await nextTurn();
  lookups[0]?.answer(null, [ADDRESS]);
  await nextTurn();
  const denied = resolve('a.test');
  await nextTurn();
  const error = createError('ENOTFOUND');
  lookups[1]?.answer(error, []);
  assert.equal(await denied, error);
});

test('the deadline frees polls whose names hang, and names that resolve are polled meanwhile', async (t) => {
  const url = new URL(await serveHttp(t, (_request, response) => response.end('{}')));
  const { lookup, lookups } = createResolver();
  const client = openClient(t, { lookup });
  const request = (hostname: string, timeoutMs: number) =>
    collectListing(client, targetAt(`http://${hostname}:${url.port}`, { timeoutMs }));
  const hanging = Array.from({ length: 8 }, (_, index) =>
    assertFailsWith(request(`hanging-${index}.test`, 100), 'timeout'),
  );
  const healthy = request('healthy.test', 20_000);
  await nextTurn();
  lookups.find(({ hostname }) => hostname === 'healthy.test')?.answer(null, [ADDRESS]);
  assert.equal((await healthy).body.toString(), '{}');
  await Promise.all(hanging);
});

test('an answer that arrives before its request ends the connection and is not taken for that of another code', async (t) => {
  const served: string[] = [];
  const respond = (body: string): string =>
    `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const url = await serveRaw(t, (socket, { head }) => {
    const code = /service_code=(\w+)/.exec(head)?.[1] ?? '';
    served.push(code);
    socket.write(respond(code));
    // Nothing requested this one.
    if (served.length === 1) socket.write(respond('forged'));
  });
  const client = openClient(t, { maxConnections: 1 });
  const codes = ['A', 'B', 'C', 'D'];
  const responses = codes.map((serviceCode) => collectListing(client, targetAt(url, { serviceCode })));
  const bodies = (await Promise.all(responses)).map(({ body }) => body.toString());
  assert.deepEqual(bodies, codes);
});
