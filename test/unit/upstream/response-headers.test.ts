import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import * as fc from 'fast-check';
import { minClockOffsetMs, readResponseTimes } from '../../../src/upstream/response-headers.ts';

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 37);

function read(
  headers: Readonly<Record<string, string | undefined>>,
  requestMs = NOW_MS,
  responseMs = NOW_MS,
) {
  return readResponseTimes((name) => headers[name], requestMs, responseMs);
}

test('the true clock offset is within the uncertainty for every offset, delay and age', () => {
  const delay = fc.integer({ min: 0, max: 5000 });
  const moment = fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 });
  const offset = fc.integer({ min: -10_000_000, max: 10_000_000 });
  const cached = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined });
  fc.assert(
    fc.property(moment, offset, delay, delay, cached, (requestMs, aheadMs, sentMs, receivedMs, ageMs) => {
      const serverMs = requestMs + sentMs - aheadMs - (ageMs ?? 0);
      const headers = {
        date: new Date(Math.floor(serverMs / 1000) * 1000).toUTCString(),
        age: ageMs === undefined ? undefined : String(Math.floor(ageMs / 1000)),
      };
      const { clockOffset } = read(headers, requestMs, requestMs + sentMs + receivedMs);
      assert.ok(clockOffset !== undefined);
      assert.ok(Math.abs(clockOffset.aheadMs - aheadMs) <= clockOffset.uncertaintyMs);
      assert.ok(minClockOffsetMs(clockOffset) <= Math.abs(aheadMs));
    }),
  );
});

test('a response of a cache is as old as its Age, and shows no offset of the clocks', () => {
  const { ageMs, clockOffset } = read({ date: 'Sun, 06 Nov 1994 08:47:37 GMT', age: '120' });
  assert.equal(ageMs, 120_000);
  assert.equal(minClockOffsetMs(clockOffset), 0);
  assert.equal(read({ age: '-1' }).ageMs, 0);
});

test('an Age above 2^31 counts as none', () => {
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
  for (const age of ['2147483649', '9'.repeat(400)]) assert.deepEqual(read({ date, age }), read({ date }));
  assert.equal(read({ date, age: '2147483648' }).ageMs, 2 ** 31 * 1000);
});

/** The dates that are absent are forms that `Date.parse` accepts. */
for (const [date, isDate] of [
  ['Sun, 06 Nov 1994 08:49:37 GMT', true],
  ['Sunday, 06-Nov-94 08:49:37 GMT', true],
  ['Sun Nov  6 08:49:37 1994', true],
  ['Sun, 06 Nov 1994 08:49:37 +0100', false],
  ['Sun, 06 Nov 1994 08:49:37 PST', false],
  ['1994-11-06T08:49:37Z', false],
  ['784111777', false],
  ['yesterday', false],
  [undefined, false],
] as const)
  test(`the Date ${date} is ${isDate ? 'read' : 'absent'}`, () => {
    assert.deepEqual(read({ date }).clockOffset, isDate ? { aheadMs: -500, uncertaintyMs: 500 } : undefined);
  });

describe('Retry-After', () => {
  for (const [value, expected] of [
    ['120', 120_000],
    [' 7 ', 7_000],
    ['86401', 86_401_000],
    ['99999999999999999999', 1e23],
    ['-5', undefined],
    ['5, 10', undefined],
    ['soon', undefined],
    [undefined, undefined],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sun, 06 Nov 1994 08:49:36 GMT', undefined],
    ['Sun, 06 Nov 2094 08:49:37 GMT', 3_155_760_000_000],
  ] as const) {
    it(`${JSON.stringify(value)} is ${expected === undefined ? 'ignored' : `${expected} ms`}`, () => {
      assert.equal(read({ 'retry-after': value }).retryAfterMs, expected);
    });
  }

  for (const [name, date, age] of [
    ['is an hour behind', 'Sun, 06 Nov 1994 07:49:37 GMT', undefined],
    ['is an hour ahead', 'Sun, 06 Nov 1994 09:49:37 GMT', undefined],
    ['is an hour behind, and a cache answers', 'Sun, 06 Nov 1994 07:48:37 GMT', '60'],
  ] as const)
    it(`as a date counts from the Date of a service whose clock ${name}`, () => {
      const retryAt = new Date(Date.parse(date) + Number(age ?? 0) * 1000 + 30_000).toUTCString();
      assert.equal(read({ date, age, 'retry-after': retryAt }).retryAfterMs, 30_000);
    });
});
