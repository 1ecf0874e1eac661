import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { parseRetryAfter } from '../../../src/upstream/retry-after.ts';

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
