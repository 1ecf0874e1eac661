import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Watchdog } from '../../../src/poller/watchdog.ts';
import { advanceClock, ManualClock } from '../../support/manual-clock.ts';
import { SuspendableClock } from '../../support/manual-clock.ts';
import { START_MS } from '../../support/tally-run.ts';
import { INTERVAL_MS, createRig } from './rig.ts';
import { createListingBody } from '../../support/manual-client.ts';
import { createRecordingLogger } from '../../support/recording-logger.ts';

test('a loop that waits for its next poll, or polls, is not stuck, however long the interval', async (t) => {
  const { clock, client, poller, start } = createRig(t, ['A', 'B']);
  start();
  for (let elapsedMs = 0; elapsedMs < 10 * INTERVAL_MS; elapsedMs += 1000) {
    const before = client.requests.length;
    await advanceClock(clock, 1000);
    assert.deepEqual(poller.findStuckCodes(clock.monotonic()), []);
    for (const request of client.requests.slice(before)) await request.respond(createListingBody(0));
  }
  assert.ok(client.requests.length >= 20);
});

test('a loop that does not wake up is stuck one minute after its poll was due', async (t) => {
  const clock = new SuspendableClock(START_MS);
  const { client, poller, start } = createRig(t, ['A', 'B'], { clock });
  start();
  await advanceClock(clock, 0);
  await client.latest.respond(createListingBody(0));
  // `A` is due after one interval, `B` after half of one.
  clock.suspend(INTERVAL_MS / 2 + 60_000);
  assert.deepEqual(poller.findStuckCodes(clock.monotonic()), []);
  clock.suspend(1);
  assert.deepEqual(poller.findStuckCodes(clock.monotonic()), ['B']);
  clock.suspend(INTERVAL_MS / 2);
  assert.deepEqual(poller.findStuckCodes(clock.monotonic()), ['A', 'B']);
});

test('after the machine wakes from sleep, no loop is stuck before its first poll has ended', async (t) => {
  const clock = new SuspendableClock(START_MS);
  const { client, poller, start } = createRig(t, ['A'], { clock });
  start();
  await advanceClock(clock, 0);
  await client.latest.respond(createListingBody(0));
  clock.suspend(8 * 60 * 60_000);
  clock.resume();
  await nextTurn();
  assert.deepEqual(poller.findStuckCodes(clock.monotonic()), []);
  assert.equal(client.requests.length, 2);
});

test('a stuck loop is logged once, and its recovery once', async () => {
  const clock = new ManualClock(START_MS);
  const { logger, lines } = createRecordingLogger();
  let stuckCodes: readonly string[] = [];
  const watchdog = new Watchdog({ findStuckCodes: () => stuckCodes, clock, logger });
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const ended = assert.rejects(watchdog.run(stop.signal), reason);
  const checks: boolean[] = [];
  for (const codes of [[], ['A'], ['A', 'B'], ['B'], []]) {
    stuckCodes = codes;
    for (let times = 0; times < 3; times += 1) await advanceClock(clock, 5000);
    checks.push(watchdog.check());
  }
  assert.deepEqual(checks, [true, false, false, false, true]);
  assert.deepEqual(lines, [
    { level: 'error', service_codes: ['A'], msg: 'Poll loop is stuck; reporting unhealthy' },
    { level: 'info', msg: 'Poll loop recovered; reporting healthy' },
  ]);
  stop.abort(reason);
  await ended;
  assert.equal(clock.sleeperCount, 0);
});
