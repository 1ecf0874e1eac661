import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import { START_MS } from '../../support/tally-run.ts';
import { INTERVAL_MS, GatedClock, createPollerHarness } from './poller-harness.ts';
import { createListingBody } from '../../support/manual-client.ts';
import { advanceClock } from '../../support/manual-clock.ts';

test('before start, the store has every service code and nothing is polled', async (t) => {
  const { clock, client, store, poller } = createPollerHarness(t, ['A', 'B']);
  await advanceClock(clock, INTERVAL_MS);
  assert.equal(client.requests.length, 0);
  assert.deepEqual(
    store.states.map(({ serviceCode }) => serviceCode),
    ['A', 'B'],
  );
  assert.equal(poller.isFirstRoundOver, false);
});

test('the first polls are spread over the interval, and each service code keeps its own schedule', async (t) => {
  const { clock, client, start } = createPollerHarness(t, ['A', 'B', 'C']);
  start();
  for (let elapsedMs = 0; elapsedMs <= 2 * INTERVAL_MS; elapsedMs += 5000) {
    await advanceClock(clock, elapsedMs === 0 ? 0 : 5000);
    await client.latest.respond(createListingBody(0));
  }
  assert.deepEqual(
    client.requestTimesMs.map((atMs) => atMs - START_MS),
    [0, 5000, 10_000, 15_000, 20_000, 25_000, 30_000],
  );
});

test('the first round is over when every first poll has ended, successful or not', async (t) => {
  const { client, poller } = createPollerHarness(t, ['A', 'B']);
  const polled = poller.pollOnce(new AbortController().signal);
  await nextTurn();
  const [first, second] = client.requests;
  await first?.respond(createListingBody(0));
  assert.equal(poller.isFirstRoundOver, false);
  await second?.fail(new UpstreamError('dns', 'The name of the service could not be resolved'));
  await polled;
  assert.equal(poller.isFirstRoundOver, true);
});

test('a hanging poll does not delay other service codes', async (t) => {
  const { clock, client, store, start } = createPollerHarness(t, ['A', 'B']);
  client.isAbortable = false;
  start();
  await advanceClock(clock, 0);
  await advanceClock(clock, INTERVAL_MS / 2);
  await client.latest.respond(createListingBody(0));
  assert.deepEqual([store.get('A')?.isUp, store.get('B')?.isUp], [undefined, true]);
});

test('disposal aborts running polls, and nothing is polled afterwards', async (t) => {
  const { clock, client, store, poller, start } = createPollerHarness(t, ['A', 'B']);
  start();
  await advanceClock(clock, 0);
  await poller[Symbol.asyncDispose]();
  await advanceClock(clock, 10 * INTERVAL_MS);
  assert.deepEqual([client.requests.length, client.latest.signal.aborted], [1, true]);
  assert.equal(store.get('A')?.isUp, undefined);
});

test('disposal waits until the loop of every service code has ended', async (t) => {
  const clock = new GatedClock(START_MS);
  const { poller, start } = createPollerHarness(t, ['A', 'B'], clock);
  start();
  await advanceClock(clock, 0);
  let isDisposed = false;
  const disposed = poller[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await nextTurn();
  assert.equal(isDisposed, false);
  clock.openGate();
  await disposed;
  assert.equal(isDisposed, true);
});

test('an internal error rejects the promise of start', async (t) => {
  const { clock, client, poller } = createPollerHarness(t, ['A', 'B']);
  const internalError = new TypeError('Expected a function');
  const failed = assert.rejects(poller.start(), internalError);
  await advanceClock(clock, 0);
  await client.latest.fail(internalError);
  await failed;
});

test('an abort rejects pollOnce with its reason', async (t) => {
  const { poller } = createPollerHarness(t, ['A', 'B']);
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const rejected = assert.rejects(poller.pollOnce(stop.signal), reason);
  await nextTurn();
  stop.abort(reason);
  await rejected;
});

test('every log line has the service code', async (t) => {
  const { client, poller, lines } = createPollerHarness(t, ['A', 'B']);
  const polled = poller.pollOnce(new AbortController().signal);
  await nextTurn();
  for (const request of client.requests) await request.respond(createListingBody(0));
  await polled;
  assert.deepEqual(
    lines.map((line) => [line['service_code'], line.msg]),
    [
      ['A', 'Poll succeeded'],
      ['B', 'Poll succeeded'],
    ],
  );
});

test('polling many service codes once with one signal causes no leak warning', async (t) => {
  const { client, poller } = createPollerHarness(
    t,
    Array.from({ length: 20 }, (_, index) => `CODE_${index}`),
  );
  const warnings: Error[] = [];
  const record = (warning: Error): void => void warnings.push(warning);
  process.on('warning', record);
  t.after(() => process.off('warning', record));
  const polled = poller.pollOnce(new AbortController().signal);
  for (const request of client.requests) await request.respond(createListingBody(0));
  await polled;
  await nextTurn();
  assert.deepEqual(warnings, []);
});
