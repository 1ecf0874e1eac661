import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Samples } from '../../src/metrics/family.ts';
import type { SelfMetrics } from '../../src/metrics/self.ts';
import type { PolledCode } from '../../src/poller/polled-code.ts';
import type { Store } from '../../src/poller/store.ts';
import { UpstreamError } from '../../src/upstream/errors.ts';
import { START_MS } from '../support/tally-run.ts';
import { codeFor, INTERVAL_MS, LingeringClock, setUp } from './held-poller.ts';
import { listingBody, pass, TARGET } from './polling.ts';

const A = codeFor('A');
const B = codeFor('B');
const C = codeFor('C');
const withSecret = (serviceCode: string, secret: string): PolledCode =>
  codeFor(serviceCode, { target: { ...TARGET, serviceCode, secret } });

/** Bytes that the ledger of a code has counted. */
function inputBytes(store: Store, serviceCode: string): number | undefined {
  return firstValue(store.get(serviceCode)?.snapshot?.counters.inputBytes);
}

function firstValue(samples: Samples = []): number | undefined {
  const [sample] = samples;
  return sample !== undefined && 'value' in sample ? sample.value : undefined;
}

async function pollsOf(self: SelfMetrics, serviceCode: string): Promise<number | undefined> {
  const families = await self.collect(new Set([serviceCode]));
  const polls = families.find(({ spec }) => spec.name === 'xvs_exporter_polls_total');
  return firstValue(polls?.samples);
}

/** Lets a clock go, answering what is asked, with a body that grows by 100 bytes with each poll. */
async function runFor(
  { clock, client }: ReturnType<typeof setUp>,
  ms: number,
  stepMs: number,
): Promise<void> {
  for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += stepMs) {
    const before = client.requests.length;
    await pass(clock, stepMs);
    for (const request of client.requests.slice(before)) {
      await request.answer(listingBody((request.atMs - START_MS) / 10));
    }
  }
}

test('a code that stays is not disturbed: neither its grid nor the poll that is under way', async (t) => {
  const rig = setUp(t, ['A']);
  const { clock, client, poller, start } = rig;
  start();
  await pass(clock, 0);
  const underWay = client.latest;
  await pass(clock, 1000);
  assert.deepEqual(await poller.apply([A]), { added: [], changed: [], kept: [A], removed: [] });
  assert.equal(underWay.signal.aborted, false);
  await underWay.answer(listingBody(0));
  await runFor(rig, 2 * INTERVAL_MS, 1000);
  assert.deepEqual(
    client.times.map((atMs) => atMs - START_MS),
    [0, INTERVAL_MS, 2 * INTERVAL_MS],
  );
});

test('a code that changed keeps its ledger and its counters, and is polled at once with what is new', async (t) => {
  const rig = setUp(t, ['A']);
  const { clock, client, poller, store, self, start } = rig;
  start();
  await pass(clock, 0);
  await client.latest.answer(listingBody(0));
  await runFor(rig, 2 * INTERVAL_MS, 1000);
  assert.equal(inputBytes(store, 'A'), 3000);

  await pass(clock, 1000);
  await poller.apply([withSecret('A', 'new')]);
  await pass(clock, 0);
  assert.deepEqual([client.times.at(-1), client.latest.target.secret], [clock.now(), 'new']);
  await client.latest.answer(listingBody(3500));
  assert.equal(inputBytes(store, 'A'), 3500);
  assert.equal(await pollsOf(self, 'A'), 4);

  const requests = client.requests.length;
  await pass(clock, INTERVAL_MS);
  assert.equal(client.requests.length, requests + 1);
  await client.latest.answer(listingBody(4000));
  assert.equal(inputBytes(store, 'A'), 4000);
});

test('the poll under way of a code that changed is aborted, and counts nothing', async (t) => {
  const { clock, client, poller, store, start } = setUp(t, ['A']);
  start();
  await pass(clock, 0);
  const old = client.latest;
  await poller.apply([withSecret('A', 'new')]);
  assert.equal(old.signal.aborted, true);
  await old.answer(listingBody(7));
  assert.equal(store.get('A')?.isUp, undefined);
  await pass(clock, 0);
  assert.equal(client.latest.target.secret, 'new');
});

test('another interval and another staleness hold from then on', async (t) => {
  const rig = setUp(t, ['A']);
  const { clock, client, poller, store, start } = rig;
  start();
  await pass(clock, 0);
  await client.latest.answer(listingBody(0));
  await poller.apply([codeFor('A', { intervalMs: 1000, staleAfterMs: 3000 })]);
  assert.equal(store.get('A')?.staleAfterMs, 3000);
  await pass(clock, 0);
  await client.latest.answer(listingBody(0));
  await runFor(rig, 3000, 1000);
  assert.deepEqual(
    client.times.map((atMs) => atMs - START_MS),
    [0, 0, 1000, 2000, 3000],
  );
});

test('another stall_after holds from the next listing on', async (t) => {
  const { clock, client, poller, store, start } = setUp(t, ['A']);
  const stalled = (): unknown => [...(store.get('A')?.snapshot?.listing.tasksStalled ?? [])][0];
  start();
  await pass(clock, 0);
  await client.latest.answer(listingBody(0));
  await pass(clock, INTERVAL_MS);
  await client.latest.answer(listingBody(100));
  await pass(clock, INTERVAL_MS);
  await client.latest.answer(listingBody(100));
  assert.deepEqual(stalled(), { labels: ['A', 'server-1'], value: 0 });
  await poller.apply([codeFor('A', { stallAfterMs: INTERVAL_MS })]);
  await pass(clock, 0);
  await client.latest.answer(listingBody(100));
  assert.deepEqual(stalled(), { labels: ['A', 'server-1'], value: 1 });
});

test('a pause that the service asked for outlives another secret, but not another address', async (t) => {
  const { clock, client, poller, start } = setUp(t, ['A']);
  start();
  await pass(clock, 0);
  const throttled = new UpstreamError('http_status', 'Expected 2xx', { status: 429, retryAfterMs: 60_000 });
  await client.latest.fail(throttled);
  await poller.apply([withSecret('A', 'new')]);
  await pass(clock, 0);
  assert.equal(client.requests.length, 1);
  await poller.apply([codeFor('A', { target: { ...TARGET, serviceCode: 'A', baseUrl: 'http://[::1]' } })]);
  await pass(clock, 0);
  assert.equal(client.requests.length, 2);
});

test('a code that goes leaves no series, once its poll has ended', async (t) => {
  const clock = new LingeringClock(START_MS);
  const { client, poller, store, self, start } = setUp(t, ['A', 'B'], clock);
  // Only the poller itself ends the poll then.
  client.heedsSignal = false;
  start();
  await pass(clock, 0);
  const gone = client.latest;
  let isApplied = false;
  const applied = poller.apply([B]).then((difference) => {
    isApplied = true;
    return difference;
  });
  await nextTurn();
  assert.deepEqual([gone.signal.aborted, isApplied], [true, false]);
  assert.notEqual(store.get('A'), undefined);
  clock.letGo();
  assert.deepEqual((await applied).removed, [A]);
  await gone.answer(listingBody(7));
  assert.deepEqual([store.get('A'), await pollsOf(self, 'A')], [undefined, undefined]);
  assert.equal(await pollsOf(self, 'B'), 0);
});

test('a code that goes and comes back begins anew', async (t) => {
  const rig = setUp(t, ['A']);
  const { clock, client, poller, store, self, start } = rig;
  start();
  await pass(clock, 0);
  await client.latest.answer(listingBody(0));
  await runFor(rig, INTERVAL_MS, 1000);
  assert.equal(inputBytes(store, 'A'), 1500);
  await poller.apply([B]);
  await poller.apply([A]);
  assert.equal(await pollsOf(self, 'A'), 0);
  await pass(clock, 0);
  await client.latest.answer(listingBody(9000));
  assert.equal(inputBytes(store, 'A'), 0);
});

test('codes that come are polled soon, but not all in the same moment', async (t) => {
  const { clock, client, poller, start } = setUp(t, []);
  start();
  await poller.apply([A, B, C]);
  for (let elapsedMs = 0; elapsedMs < 1000; elapsedMs += 50) await pass(clock, elapsedMs === 0 ? 0 : 50);
  assert.deepEqual(
    client.requests.map(({ atMs, target }) => [target.serviceCode, atMs - START_MS]),
    [
      ['A', 0],
      ['B', 100],
      ['C', 200],
    ],
  );
});

test('the exporter stays ready when a code comes', async (t) => {
  const { clock, client, poller, start } = setUp(t, ['A']);
  start();
  await pass(clock, 0);
  await client.latest.answer(listingBody(0));
  await poller.apply([A, B]);
  assert.equal(poller.isFirstRoundOver, true);
});

test('an exporter that is not ready becomes so by the first poll of what came instead', async (t) => {
  const { clock, client, poller, start } = setUp(t, ['A']);
  start();
  await pass(clock, 0);
  await poller.apply([B]);
  assert.equal(poller.isFirstRoundOver, false);
  await pass(clock, 0);
  await client.latest.answer(listingBody(0));
  assert.equal(poller.isFirstRoundOver, true);
});

test('what is applied while the poller is disposed of is not polled', async (t) => {
  const clock = new LingeringClock(START_MS);
  const { client, poller, start } = setUp(t, ['A'], clock);
  start();
  await pass(clock, 0);
  const applied = poller.apply([withSecret('A', 'new'), B]);
  const disposed = poller[Symbol.asyncDispose]();
  clock.letGo();
  await Promise.all([applied, disposed]);
  await pass(clock, INTERVAL_MS);
  assert.equal(client.requests.length, 1);
});

test('a mistake of the program in a code that came later comes out of the start', async (t) => {
  const { clock, client, poller } = setUp(t, ['A']);
  const mistake = new TypeError('Expected a function');
  const failed = assert.rejects(poller.start(), mistake);
  await pass(clock, 0);
  await poller.apply([A, B]);
  await pass(clock, 0);
  assert.equal(client.latest.target.serviceCode, 'B');
  await client.latest.fail(mistake);
  await failed;
});
