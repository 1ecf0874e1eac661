import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Watchdog } from '../../src/poller/watchdog.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SuspendableClock } from '../support/suspendable-clock.ts';
import { START_MS } from '../support/tally-run.ts';
import { INTERVAL_MS, setUp } from './held-poller.ts';
import { listingBody, pass, recordedLog } from './polling.ts';

test('a loop that is waiting for its time, or at a poll, is not suspected, however long the interval', async (t) => {
  const { clock, client, poller, start } = setUp(t, ['A', 'B']);
  start();
  for (let elapsedMs = 0; elapsedMs < 10 * INTERVAL_MS; elapsedMs += 1000) {
    const before = client.requests.length;
    await pass(clock, 1000);
    assert.deepEqual(poller.standingStill(clock.monotonic()), []);
    for (const request of client.requests.slice(before)) await request.answer(listingBody(0));
  }
  assert.ok(client.requests.length >= 20);
});

test('a service that never answers makes no loop suspect', async (t) => {
  const { clock, client, poller, start } = setUp(t, ['A']);
  client.heedsSignal = false;
  start();
  for (let elapsedMs = 0; elapsedMs < 5 * 60_000; elapsedMs += 1000) {
    await pass(clock, 1000);
    assert.deepEqual(poller.standingStill(clock.monotonic()), []);
  }
});

test('a loop that nobody wakes stands still a minute after it was due, and is named', async (t) => {
  const clock = new SuspendableClock(START_MS);
  const { client, poller, start } = setUp(t, ['A', 'B'], clock);
  start();
  await pass(clock, 0);
  await client.latest.answer(listingBody(0));
  // `A` is due after one interval, `B` after half of one.
  clock.suspend(INTERVAL_MS / 2 + 60_000);
  assert.deepEqual(poller.standingStill(clock.monotonic()), []);
  clock.suspend(1);
  assert.deepEqual(poller.standingStill(clock.monotonic()), ['B']);
  clock.suspend(INTERVAL_MS / 2);
  assert.deepEqual(poller.standingStill(clock.monotonic()), ['A', 'B']);
});

test('a machine that wakes from sleep is healthy before its first poll has ended', async (t) => {
  const clock = new SuspendableClock(START_MS);
  const { client, poller, start } = setUp(t, ['A'], clock);
  start();
  await pass(clock, 0);
  await client.latest.answer(listingBody(0));
  clock.suspend(8 * 60 * 60_000);
  clock.resume();
  await nextTurn();
  assert.deepEqual(poller.standingStill(clock.monotonic()), []);
  assert.equal(client.requests.length, 2);
});

test('nothing stands still that does not run', async (t) => {
  const { clock, poller } = setUp(t, ['A']);
  await pass(clock, 60 * 60_000);
  assert.deepEqual(poller.standingStill(clock.monotonic()), []);
});

test('that polls stand still is one line, and that they go on again is another', async () => {
  const clock = new ManualClock(START_MS);
  const { logger, lines } = recordedLog();
  let still: readonly string[] = [];
  const watchdog = new Watchdog({ standingStill: () => still, clock, logger });
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const ended = assert.rejects(watchdog.run(stop.signal), reason);
  const looks: boolean[] = [];
  for (const now of [[], ['A'], ['A', 'B'], ['B'], []]) {
    still = now;
    for (let times = 0; times < 3; times += 1) await pass(clock, 5000);
    looks.push(watchdog.look());
  }
  assert.deepEqual(looks, [true, false, false, false, true]);
  assert.deepEqual(lines, [
    { level: 'error', service_codes: ['A'], msg: 'Polls stand still: not healthy' },
    { level: 'info', msg: 'Polls go on: healthy again' },
  ]);
  stop.abort(reason);
  await ended;
  assert.equal(clock.sleepers, 0);
});
