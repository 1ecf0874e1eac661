import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatBitRate,
  formatCount,
  formatHumanDuration,
  formatMoment,
  formatTimeSpan,
  renderAge,
  renderKnown,
} from '../../../../src/web/status-page/human-units.ts';

for (const [format, value, expected] of [
  [formatCount, 0, '0'],
  [formatCount, 9999, '9,999'],
  [formatCount, 10_000, '10.0 k'],
  [formatCount, 99_949, '99.9 k'],
  [formatCount, 99_950, '100 k'],
  [formatCount, 999_499, '999 k'],
  [formatCount, 999_500, '1.00 M'],
  [formatCount, 1e19, '10000 P'],
  [formatBitRate, 0, '0 b/s'],
  [formatBitRate, 100, '800 b/s'],
  [formatBitRate, 1_234_567.8, '9.88 Mb/s'],
  [formatHumanDuration, 0, '1 ms'],
  [formatHumanDuration, 999.4, '999 ms'],
  [formatHumanDuration, 12_340, '12.3 s'],
  [formatTimeSpan, -5000, '0 s'],
  [formatTimeSpan, 119_400, '119 s'],
  [formatTimeSpan, 120_000, '2 min'],
  [formatTimeSpan, 7_199_999, '119 min'],
  [formatTimeSpan, 7_200_000, '2 h'],
  [formatTimeSpan, 172_800_000, '2 d'],
] as const) {
  test(`${format.name} shows ${value} as ${expected}`, () => assert.equal(format(value), expected));
}

test('a moment is shown as its age, with the moment in the tooltip, or as its time', () => {
  const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  assert.equal(
    renderAge(nowMs - 12_000, nowMs).text,
    '<time datetime="2026-01-02T03:03:53.000Z" title="2026-01-02 03:03:53 UTC">12 s ago</time>',
  );
  assert.equal(formatMoment(nowMs - 60_000, nowMs), '03:03');
  assert.equal(formatMoment(nowMs - 86_400_000, nowMs), '2026-01-01 03:04');
});

test('an unknown value is shown as a dash and read as a word, not as zero', () => {
  for (const { text } of [renderKnown(undefined, String), renderAge(undefined, 0)])
    assert.equal(text.replaceAll(/<[^>]+>/g, ''), '–unknown');
});
