import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { minClockOffsetMs, estimateClockOffset } from '../../../src/upstream/clock-offset.ts';

test('a missing or invalid Date header gives no clock offset', () => {
  assert.equal(estimateClockOffset(undefined, 0, 1), undefined);
  assert.equal(estimateClockOffset('yesterday', 0, 1), undefined);
});

test('the true clock offset is within the uncertainty for every offset and delay', () => {
  const delay = fc.integer({ min: 0, max: 5000 });
  const moment = fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 });
  const offset = fc.integer({ min: -10_000_000, max: 10_000_000 });
  fc.assert(
    fc.property(moment, offset, delay, delay, (requestMs, aheadMs, requestDelay, responseDelay) => {
      const date = new Date(Math.floor((requestMs + requestDelay - aheadMs) / 1000) * 1000).toUTCString();
      const found = estimateClockOffset(date, requestMs, requestMs + requestDelay + responseDelay);
      assert.ok(found !== undefined);
      assert.ok(Math.abs(found.aheadMs - aheadMs) <= found.uncertaintyMs);
      assert.ok(minClockOffsetMs(found) <= Math.abs(aheadMs));
    }),
  );
});
