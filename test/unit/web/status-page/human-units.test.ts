import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  renderAge,
  renderBitRate,
  renderCount,
  renderDuration,
  formatTimeSpan,
} from '../../../../src/web/status-page/human-units.ts';

/** The visible text, with the tooltip in parentheses. */
function readText(markup: { text: string }): string {
  const title = /title="([^"]*)"/.exec(markup.text)?.[1];
  const text = markup.text.replaceAll(/<[^>]+>/g, '');
  return title === undefined ? text : `${text} (${title})`;
}

const COUNTS: readonly (readonly [number, string])[] = [
  [0, '0'],
  [999, '999'],
  [9999, '9,999'],
  [10_000, '10.0 k (10,000)'],
  [12_345, '12.3 k (12,345)'],
  [99_949, '99.9 k (99,949)'],
  [99_950, '100 k (99,950)'],
  [999_499, '999 k (999,499)'],
  [999_500, '1.00 M (999,500)'],
  [1e15, '1.00 P (1,000,000,000,000,000)'],
  [1e19, '10000 P (10,000,000,000,000,000,000)'],
];

for (const [value, expected] of COUNTS) {
  test(`the count ${value} is shown as ${expected}`, () =>
    assert.equal(readText(renderCount(value)), expected));
}

const RATES: readonly (readonly [number, string])[] = [
  [0, '0 b/s (0 bytes per second)'],
  [100, '800 b/s (100 bytes per second)'],
  [125, '1.00 kb/s (125 bytes per second)'],
  [1_234_567.8, '9.88 Mb/s (1,234,568 bytes per second)'],
];

for (const [value, expected] of RATES) {
  test(`${value} bytes per second are shown as ${expected}`, () =>
    assert.equal(readText(renderBitRate(value)), expected));
}

const DURATIONS: readonly (readonly [number, string])[] = [
  [0, '1 ms (0.000 ms)'],
  [0.4, '1 ms (0.400 ms)'],
  [999.4, '999 ms (999.400 ms)'],
  [999.5, '1.0 s (1,000 ms)'],
  [12_340, '12.3 s (12,340 ms)'],
];

for (const [value, expected] of DURATIONS) {
  test(`a duration of ${value} ms is shown as ${expected}`, () =>
    assert.equal(readText(renderDuration(value)), expected));
}

const SPANS: readonly (readonly [number, string])[] = [
  [-5000, '0 s'],
  [0, '0 s'],
  [119_400, '119 s'],
  [120_000, '2 min'],
  [7_199_999, '119 min'],
  [7_200_000, '2 h'],
  [172_800_000, '2 d'],
];

for (const [value, expected] of SPANS) {
  test(`a span of ${value} ms is shown as ${expected}`, () => assert.equal(formatTimeSpan(value), expected));
}

test('a moment is shown as its age, with the moment in the tooltip', () => {
  const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  assert.equal(
    renderAge(nowMs - 12_000, nowMs).text,
    '<time datetime="2026-01-02T03:03:53.000Z" title="2026-01-02 03:03:53 UTC">12 s ago</time>',
  );
});

test('an unknown value is shown as a dash and read as a word, not as zero', () => {
  for (const unknown of [
    renderCount(undefined),
    renderBitRate(undefined),
    renderDuration(undefined),
    renderAge(undefined, 0),
  ]) {
    assert.equal(readText(unknown), '–unknown');
  }
});
