import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  firstDelayMs,
  nextPoll,
  pausedUntilMs,
  promptDelayMs,
  standsStill,
} from '../../src/poller/schedule.ts';

const milliseconds = fc.nat({ max: 10_000_000_000 });
const intervalMs = fc.integer({ min: 1, max: 86_400_000 });

for (const [index, count, expected] of [
  [0, 1, 0],
  [0, 3, 0],
  [1, 3, 5000],
  [2, 3, 10_000],
] as const) {
  test(`the first poll of service code ${index + 1} of ${count} waits ${expected} of 15000 ms`, () => {
    assert.equal(firstDelayMs(index, count, 15_000), expected);
  });
}

test('the first polls of all service codes are equally far apart, round the interval, or as many at each tick', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), intervalMs, (count, interval) => {
      const delays = Array.from({ length: count }, (_, index) => firstDelayMs(index, count, interval));
      assert.equal(delays[0], 0);
      for (const [index, delay] of delays.entries()) {
        const even = (interval * index) / count;
        assert.ok(delay <= even + 1e-6, `${delay} where ${even} is even`);
        if (interval / count >= 250) assert.ok(even - delay < 1e-6, `${delay} where ${even} is even`);
        else assert.ok(even - delay < 250, `${delay} where ${even} is even`);
      }
    }),
  );
});

test('the first polls of many service codes begin together, four times a second', () => {
  const delays = Array.from({ length: 1000 }, (_, index) => firstDelayMs(index, 1000, 15_000));
  const ticks = Array.from({ length: 60 }, (_, tick) => 250 * tick);
  assert.deepEqual([...new Set(delays)], ticks);
  for (const tick of ticks) {
    const { length } = delays.filter((delay) => delay === tick);
    assert.ok(length === 16 || length === 17, `${length} at ${tick}`);
  }
});

for (const [name, nowMs, expected] of [
  ['at once', 1000, { dueMs: 1100, overlapped: 0 }],
  ['a moment before it was due, as a timer may', 999, { dueMs: 1100, overlapped: 0 }],
  ['just in time', 1099, { dueMs: 1100, overlapped: 0 }],
  ['when the next one was due', 1100, { dueMs: 1200, overlapped: 1 }],
  ['just after the next one was due', 1101, { dueMs: 1200, overlapped: 1 }],
  ['three points late', 1399, { dueMs: 1400, overlapped: 3 }],
] as const) {
  test(`after a poll that ended ${name}, the next is due on the grid`, () => {
    assert.deepEqual(nextPoll(1000, 100, nowMs), expected);
  });
}

test('the next poll is the first point of the grid in the future, and every point passed by is counted', () => {
  fc.assert(
    fc.property(milliseconds, intervalMs, milliseconds, (dueMs, interval, tookMs) => {
      const nowMs = dueMs + tookMs;
      const next = nextPoll(dueMs, interval, nowMs);
      assert.ok(next.dueMs > nowMs, 'in the future');
      assert.ok(next.dueMs - nowMs <= interval, 'the first');
      assert.equal((next.dueMs - dueMs) % interval, 0, 'on the grid');
      assert.equal((next.dueMs - dueMs) / interval, next.overlapped + 1, 'counted');
    }),
  );
});

test('no poll is made up for: however late they are, there is at most one an interval', () => {
  const delays = fc.array(fc.nat({ max: 500 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(delays, (tookMs) => {
      let dueMs = 0;
      let overlapped = 0;
      for (const took of tookMs) {
        const next = nextPoll(dueMs, 100, dueMs + took);
        assert.ok(next.dueMs - dueMs >= 100);
        ({ dueMs, overlapped } = { dueMs: next.dueMs, overlapped: overlapped + next.overlapped });
      }
      assert.equal(dueMs / 100, tookMs.length + overlapped);
    }),
  );
});

for (const [name, retryAfterMs, expected] of [
  ['asks for nothing', undefined, 1000],
  ['asks for no time at all', 0, 1000],
  ['asks for 7 seconds', 7000, 8000],
  ['asks for 5 minutes', 300_000, 301_000],
  ['asks for more than 5 minutes', 300_001, 301_000],
  ['asks for a day', 86_400_000, 301_000],
] as const) {
  test(`a service that ${name} is left alone for ${expected - 1000} ms`, () => {
    assert.equal(pausedUntilMs(1000, retryAfterMs), expected);
  });
}

for (const [index, count, everyMs, expected] of [
  [0, 1, 15_000, 0],
  [1, 2, 15_000, 100],
  [99, 100, 15_000, 9900],
  [999, 1000, 15_000, 14_750],
  [19, 20, 1000, 750],
] as const) {
  test(`of ${count} codes that come to an interval of ${everyMs} ms, number ${index + 1} waits ${expected} ms`, () => {
    assert.equal(promptDelayMs(index, count, everyMs), expected);
  });
}

for (const [name, sinceMs, mayTakeMs, nowMs, expected] of [
  ['before it is due', 20_000, 15_000, 10_000, false],
  ['when it is due', 10_000, 15_000, 10_000, false],
  ['a minute late', 10_000, 15_000, 70_000, false],
  ['more than a minute late', 10_000, 15_000, 70_001, true],
  ['more than a minute late, with polls of 40 s', 10_000, 40_000, 70_001, false],
  ['later than two such polls take', 10_000, 40_000, 90_001, true],
] as const) {
  test(`a loop ${expected ? 'stands still' : 'goes on'} ${name}`, () => {
    assert.equal(standsStill(sinceMs, mayTakeMs, nowMs), expected);
  });
}
