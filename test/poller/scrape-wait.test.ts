import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scrapeWaitMs } from '../../src/poller/scrape-wait.ts';

const LONGEST_POLL_MS = 10_000;

const WAITS: readonly (readonly [name: string, timeoutMs: number | undefined, expected: number])[] = [
  ['10 s', 10_000, 9500],
  ['2 s', 2000, 1500],
  ['1 s, twice the margin', 1000, 500],
  ['600 ms, hardly more than the margin', 600, 300],
  ['1 ms', 1, 0.5],
  ['a minute', 60_000, 50_000],
  ['a year', 31_536_000_000, 50_000],
  ['none', undefined, LONGEST_POLL_MS],
];

for (const [name, timeoutMs, expected] of WAITS) {
  test(`a scrape with a timeout of ${name} waits ${expected} ms for its polls`, () => {
    assert.equal(scrapeWaitMs(timeoutMs, LONGEST_POLL_MS), expected);
  });
}

test('a scrape without a timeout does not wait without end for polls that may', () => {
  assert.equal(scrapeWaitMs(undefined, 3_600_000), 50_000);
});
