import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { apartAtLeastMs, clockDifference } from '../../src/explain/clock-difference.ts';

test('an answer without a date, or with one that is none, tells nothing', () => {
  assert.equal(clockDifference(undefined, 0, 1), undefined);
  assert.equal(clockDifference('yesterday', 0, 1), undefined);
});

test('whatever the difference and the delays, it lies within the uncertainty', () => {
  const delay = fc.integer({ min: 0, max: 5000 });
  const moment = fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 });
  const difference = fc.integer({ min: -10_000_000, max: 10_000_000 });
  fc.assert(
    fc.property(moment, difference, delay, delay, (askedMs, aheadMs, there, back) => {
      const date = new Date(Math.floor((askedMs + there - aheadMs) / 1000) * 1000).toUTCString();
      const found = clockDifference(date, askedMs, askedMs + there + back);
      assert.ok(found !== undefined);
      assert.ok(Math.abs(found.aheadMs - aheadMs) <= found.uncertaintyMs);
      assert.ok(apartAtLeastMs(found) <= Math.abs(aheadMs));
    }),
  );
});
