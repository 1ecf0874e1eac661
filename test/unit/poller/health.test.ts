import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { advanceClock, SuspendableClock } from '../../support/manual-clock.ts';
import { START_MS } from '../../support/tally-run.ts';
import { INTERVAL_MS, createRig } from './rig.ts';
import { createListingBody } from '../../support/manual-client.ts';

test('a loop that waits for its next poll, or polls, is not stuck, however long the interval', async (t) => {
  const { clock, client, poller, start } = createRig(t, ['A', 'B']);
  await start();
  for (let elapsedMs = 0; elapsedMs < 10 * INTERVAL_MS; elapsedMs += 1000) {
    const before = elapsedMs === 0 ? 0 : client.requests.length;
    await advanceClock(clock, 1000);
    assert.equal(poller.updateHealth(), true);
    for (const request of client.requests.slice(before)) await request.respond(createListingBody(0));
  }
  assert.ok(client.requests.length >= 20);
});

test('a loop that does not wake up is stuck one minute after its poll was due', async (t) => {
  const clock = new SuspendableClock(START_MS);
  const { client, poller, lines, start } = createRig(t, ['A', 'B'], { clock });
  await start();
  await client.latest.respond(createListingBody(0));
  // `A` is due after one interval, `B` after half of one.
  clock.suspend(INTERVAL_MS / 2 + 60_000);
  assert.equal(poller.updateHealth(), true);
  clock.suspend(1);
  assert.equal(poller.updateHealth(), false);
  clock.suspend(INTERVAL_MS / 2);
  assert.equal(poller.updateHealth(), false);
  assert.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [{ level: 'error', service_codes: ['B'], msg: 'Poll loop is stuck; reporting unhealthy' }],
  );
});

test('a poll with a long timeout is stuck after twice that time', async (t) => {
  const { clock, poller, start } = createRig(t, ['A'], { timeoutMs: 40_000 });
  await start();
  await advanceClock(clock, 80_000);
  assert.equal(poller.updateHealth(), true);
  await advanceClock(clock, 1);
  assert.equal(poller.updateHealth(), false);
});

test('after the machine wakes from sleep, no loop is stuck before its first poll has ended', async (t) => {
  const clock = new SuspendableClock(START_MS);
  const { client, poller, start } = createRig(t, ['A'], { clock });
  await start();
  await client.latest.respond(createListingBody(0));
  clock.suspend(8 * 60 * 60_000);
  clock.resume();
  await nextTurn();
  assert.equal(poller.updateHealth(), true);
  assert.equal(client.requests.length, 2);
});

test('a poll that hangs is logged once, and so is the recovery, even if nothing asks for the health', async (t) => {
  const { clock, client, poller, lines, start } = createRig(t, ['A']);
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const ended = assert.rejects(poller.watchHealth(stop.signal), reason);
  await start();
  for (let elapsedMs = 0; elapsedMs < 100_000; elapsedMs += 5000) await advanceClock(clock, 5000);
  await client.latest.respond(createListingBody(0));
  for (let checks = 0; checks < 2; checks += 1) await advanceClock(clock, 5000);
  assert.deepEqual(
    lines.filter(({ msg }) => msg.startsWith('Poll loop')).map(({ level, msg }) => `${level}: ${msg}`),
    ['error: Poll loop is stuck; reporting unhealthy', 'info: Poll loop recovered; reporting healthy'],
  );
  stop.abort(reason);
  await ended;
});
