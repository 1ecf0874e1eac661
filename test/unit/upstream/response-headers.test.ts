import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import * as fc from 'fast-check';
import {
  minClockOffsetMs,
  estimateClockOffset,
  parseRetryAfter,
} from '../../../src/upstream/response-headers.ts';

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

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 37);

describe('Retry-After', () => {
  for (const [value, expected] of [
    ['120', 120_000],
    ['0', 0],
    [' 7 ', 7_000],
    ['86400', 86_400_000],
    ['86401', 86_401_000],
    ['99999999999999999999', 1e23],
    ['-5', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['5, 10', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
    ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
    ['Sun Nov  6 08:50:37 1994', 60_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sun, 06 Nov 1994 08:49:36 GMT', undefined],
    ['Sun, 06 Nov 2094 08:49:37 GMT', 3_155_760_000_000],
    ['Sun, nonsense GMT', undefined],
  ] as const) {
    it(`${JSON.stringify(value)} is ${expected === undefined ? 'ignored' : `${expected} ms`}`, () => {
      assert.equal(parseRetryAfter(value, NOW_MS), expected);
    });
  }
});
