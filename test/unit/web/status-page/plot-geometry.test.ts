import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PollHistory } from '../../../../src/poller/poll-history.ts';
import { computePlot, renderPaths } from '../../../../src/web/status-page/plot-geometry.ts';
import type { PlottedField } from '../../../../src/web/status-page/plotted-fields.ts';
import { createUserHistory } from './status-fixtures.ts';

function readPaths(
  history: PollHistory,
  field: PlottedField = 'users',
  fitsData = false,
): Record<string, string> {
  const plot = computePlot(history.entries(), field, { fitsData });
  const paths = renderPaths(plot).text.matchAll(/<path class="(\w+)" d="([^"]*)"/g);
  return Object.fromEntries([...paths].map(([, name = '', d = '']) => [name, d]));
}

const PLOTS: readonly (readonly [string, PollHistory, Record<string, string>])[] = [
  ['an empty history has no line', createUserHistory(), {}],
  ['a single poll is a dot', createUserHistory(5), { line: 'M600 5h0' }],
  ['the line spans from zero to the maximum', createUserHistory(0, 5, 10), { line: 'M0 95h0L300 50L600 5' }],
  ['zeros are at the bottom', createUserHistory(0, 0), { line: 'M0 95h0L600 95' }],
  [
    'a failed poll is a gap and a tick, not a zero',
    createUserHistory(10, 'failed', 10),
    { line: 'M0 5h0M600 5h0', failed: 'M300 100v-25' },
  ],
  [
    'failed polls alone have ticks and no line',
    createUserHistory('failed', 'failed'),
    { failed: 'M0 100v-25M600 100v-25' },
  ],
];

for (const [name, history, expected] of PLOTS) {
  test(`plot: ${name}`, () => assert.deepEqual(readPaths(history), expected));
}

const SCALES: readonly (readonly [string, PollHistory, number])[] = [
  ['small variations of large values', createUserHistory(1000, 1010, 990), 990],
  ['values that vary by more than a quarter', createUserHistory(1000, 700), 0],
  ['equal values', createUserHistory(7, 7, 7), 0],
  ['zeros', createUserHistory(0, 0), 0],
  ['failed polls alone', createUserHistory('failed'), 0],
  ['large values around a failed poll', createUserHistory(1000, 'failed', 1010), 1000],
];

for (const [name, history, bottom] of SCALES) {
  test(`a scale that fits ${name} starts at ${bottom}`, () => {
    assert.equal(computePlot(history.entries(), 'users', { fitsData: true }).scale.bottom, bottom);
    assert.equal(computePlot(history.entries(), 'users', { fitsData: false }).scale.bottom, 0);
  });
}

test('a scale that fits the data uses the whole height', () => {
  assert.deepEqual(readPaths(createUserHistory(1000, 1010, 990), 'users', true), {
    line: 'M0 50h0L300 5L600 95',
  });
});

test('the line of a rate starts with the second listing', () => {
  assert.deepEqual(readPaths(createUserHistory(1, 1, 1), 'ingress'), { line: 'M300 95h0L600 95' });
});

test('the highest point is the first poll with the maximum', () => {
  const { highest } = computePlot(createUserHistory(3, 'failed', 7, 7).entries(), 'users', {
    fitsData: false,
  });
  assert.deepEqual([highest?.value, highest?.entry.beforeLatestMs], [7, 10_000]);
});
