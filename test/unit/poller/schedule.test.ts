import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  computeFirstDelays,
  computeNextPoll,
  computeReloadDelays,
  findFirstPollAfter,
} from '../../../src/poller/schedule.ts';

const milliseconds = fc.nat({ max: 10_000_000_000 });
const intervalMs = fc.integer({ min: 1, max: 86_400_000 });

for (const [dueMs, minMs, expected] of [
  [100, 50, 100],
  [100, 100, 100],
  [100, 101, 115],
  [100, 131, 145],
] as const) {
  test(`with polls at ${dueMs} ms and every 15 ms, the first one from ${minMs} ms on is at ${expected} ms`, () => {
    assert.equal(findFirstPollAfter(dueMs, 15, minMs), expected);
  });
}

test('first polls are spread evenly over the interval, or a minute; the second ones over the interval', () => {
  const assertEven = (delay: number, even: number, gapMs: number): void => {
    const latenessMs = even - delay;
    assert.ok(latenessMs > -1e-6, `${delay} where ${even} is even`);
    assert.ok(latenessMs < (gapMs >= 250 ? 0 : 250) + 1e-6, `${delay} where ${even} is even`);
  };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), intervalMs, (count, interval) => {
      const spreadMs = Math.min(interval, 60_000);
      for (let index = 0; index < count; index += 1) {
        const { firstMs, secondMs } = computeFirstDelays(index, count, interval);
        assertEven(firstMs, (spreadMs * index) / count, spreadMs / count);
        const even = (interval * index) / count;
        assertEven(secondMs < interval ? secondMs : secondMs - interval, even, interval / count);
        assert.ok(secondMs - firstMs >= spreadMs - 1e-6, 'an interval later, or a minute');
        assert.ok(secondMs - firstMs < interval + spreadMs, 'soon');
      }
    }),
  );
});

test('the next poll is at the first future point of the grid, and missed points are counted, not made up for', () => {
  fc.assert(
    fc.property(milliseconds, intervalMs, milliseconds, (dueMs, interval, tookMs) => {
      const nowMs = dueMs + tookMs;
      const next = computeNextPoll(dueMs, interval, nowMs);
      assert.ok(next.dueMs > nowMs, 'in the future');
      assert.ok(next.dueMs - nowMs <= interval, 'the first');
      assert.equal((next.dueMs - dueMs) % interval, 0, 'on the grid');
      assert.equal((next.dueMs - dueMs) / interval, next.overlapCount + 1, 'counted');
    }),
  );
});

for (const [index, count, everyMs, expected] of [
  [0, 1, 15_000, 0],
  [1, 2, 15_000, 100],
  [99, 100, 15_000, 9900],
  [999, 1000, 15_000, 14_750],
  [19, 20, 1000, 750],
  [1999, 2000, 600_000, 59_750],
] as const) {
  test(`added code ${index + 1} of ${count}, with an interval of ${everyMs} ms, waits ${expected} ms`, () => {
    assert.equal(computeReloadDelays(index, count, everyMs).firstMs, expected);
  });
}
