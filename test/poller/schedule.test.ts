import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstDelayMs, nextPoll, pausedUntilMs } from '../../src/poller/schedule.ts';

test('first polls spread evenly over the interval, the first at once', () => {
  const delays = [0, 1, 2, 3].map((index) => firstDelayMs(index, 4, 20_000));
  assert.deepEqual(delays, [0, 5000, 10_000, 15_000]);
});

test('the next poll', async (t) => {
  const table: [string, number, { dueMs: number; overlapped: number }][] = [
    ['after a quick one is a whole interval later', 1200, { dueMs: 2000, overlapped: 0 }],
    ['after one that took just the interval is not made up for', 2000, { dueMs: 3000, overlapped: 1 }],
    ['after a slow one leaves out what has passed', 4500, { dueMs: 5000, overlapped: 3 }],
    ['is on the grid though the clock stood still', 1000, { dueMs: 2000, overlapped: 0 }],
  ];
  for (const [name, nowMs, next] of table) {
    await t.test(name, () => assert.deepEqual(nextPoll(1000, 1000, nowMs), next));
  }
});

test('whatever a poll took, the next is on the grid, in the future, and by less than an interval', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 1e6 }), fc.nat(), (dueMs, intervalMs, tookMs) => {
      const nowMs = dueMs + tookMs;
      const next = nextPoll(dueMs, intervalMs, nowMs);
      assert.equal((next.dueMs - dueMs) % intervalMs, 0);
      assert.ok(next.dueMs > nowMs && next.dueMs - nowMs <= intervalMs);
      assert.equal(next.overlapped, (next.dueMs - dueMs) / intervalMs - 1);
    }),
  );
});

test('a pause is heeded up to five minutes', () => {
  assert.equal(pausedUntilMs(1000, undefined), 1000);
  assert.equal(pausedUntilMs(1000, 30_000), 31_000);
  assert.equal(pausedUntilMs(1000, 86_400_000), 301_000);
});
