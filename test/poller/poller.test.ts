import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UpstreamError } from '../../src/upstream/errors.ts';
import { START_MS } from '../support/tally-run.ts';
import { INTERVAL_MS, LingeringClock, setUp } from './held-poller.ts';
import { listingBody, pass } from './polling.ts';

test('nothing is polled before the start, and every service code is known', async (t) => {
  const { clock, client, store, poller } = setUp(t, ['A', 'B']);
  await pass(clock, INTERVAL_MS);
  assert.equal(client.requests.length, 0);
  assert.deepEqual(
    store.states.map(({ serviceCode }) => serviceCode),
    ['A', 'B'],
  );
  assert.equal(poller.isFirstRoundOver, false);
});

test('the first polls are spread over the interval, and each service code keeps its own grid', async (t) => {
  const { clock, client, start } = setUp(t, ['A', 'B', 'C']);
  start();
  for (let elapsedMs = 0; elapsedMs <= 2 * INTERVAL_MS; elapsedMs += 5000) {
    await pass(clock, elapsedMs === 0 ? 0 : 5000);
    await client.latest.answer(listingBody(0));
  }
  assert.deepEqual(
    client.times.map((atMs) => atMs - START_MS),
    [0, 5000, 10_000, 15_000, 20_000, 25_000, 30_000],
  );
});

test('the first round is over when every first poll has ended, however it went', async (t) => {
  const { client, poller } = setUp(t, ['A', 'B']);
  const polled = poller.pollOnce(new AbortController().signal);
  await nextTurn();
  const [first, second] = client.requests;
  await first?.answer(listingBody(0));
  assert.equal(poller.isFirstRoundOver, false);
  await second?.fail(new UpstreamError('dns', 'The name of the service could not be resolved'));
  await polled;
  assert.equal(poller.isFirstRoundOver, true);
});

test('a service code that hangs keeps no other waiting', async (t) => {
  const { clock, client, store, start } = setUp(t, ['A', 'B']);
  client.heedsSignal = false;
  start();
  await pass(clock, 0);
  await pass(clock, INTERVAL_MS / 2);
  await client.latest.answer(listingBody(0));
  assert.deepEqual([store.get('A')?.isUp, store.get('B')?.isUp], [undefined, true]);
});

test('being disposed of ends what is under way, and nothing is polled after it', async (t) => {
  const { clock, client, store, poller, start } = setUp(t, ['A', 'B']);
  start();
  await pass(clock, 0);
  await poller[Symbol.asyncDispose]();
  await pass(clock, 10 * INTERVAL_MS);
  assert.deepEqual([client.requests.length, client.latest.signal.aborted], [1, true]);
  assert.equal(store.get('A')?.isUp, undefined);
});

test('being disposed of waits until the loop of every service code has ended', async (t) => {
  const clock = new LingeringClock(START_MS);
  const { poller, start } = setUp(t, ['A', 'B'], clock);
  start();
  await pass(clock, 0);
  let isDisposed = false;
  const disposed = poller[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await nextTurn();
  assert.equal(isDisposed, false);
  clock.letGo();
  await disposed;
  assert.equal(isDisposed, true);
});

test('a mistake of the program comes out of the start', async (t) => {
  const { clock, client, poller } = setUp(t, ['A', 'B']);
  const mistake = new TypeError('Expected a function');
  const failed = assert.rejects(poller.start(), mistake);
  await pass(clock, 0);
  await client.latest.fail(mistake);
  await failed;
});

test('an abort of a single round comes out with its reason', async (t) => {
  const { poller } = setUp(t, ['A', 'B']);
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const rejected = assert.rejects(poller.pollOnce(stop.signal), reason);
  await nextTurn();
  stop.abort(reason);
  await rejected;
});

test('every line of the log names its service code', async (t) => {
  const { client, poller, lines } = setUp(t, ['A', 'B']);
  const polled = poller.pollOnce(new AbortController().signal);
  await nextTurn();
  for (const request of client.requests) await request.answer(listingBody(0));
  await polled;
  assert.deepEqual(
    lines.map((line) => [line['service_code'], line.msg]),
    [
      ['A', 'Poll succeeded'],
      ['B', 'Poll succeeded'],
    ],
  );
});
