import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PollHistory } from '../../../../src/poller/poll-history.ts';
import { PLOTTED_FIELDS, renderPlot } from '../../../../src/web/status-page/plot.ts';
import { createUserHistory, NOW_MS } from './status-fixtures.ts';

type Size = 'small' | 'large';

function render(history: PollHistory, size: Size, field = 'users'): string {
  const display = PLOTTED_FIELDS.find((plotted) => plotted.field === field);
  assert.ok(display !== undefined);
  return renderPlot(history.entries(), display, NOW_MS, size).text;
}

const readPaths = (plot: string): Record<string, string> =>
  Object.fromEntries(
    [...plot.matchAll(/<path class="(\w+)" d="([^"]*)"/g)].map(([, name = '', d = '']) => [name, d]),
  );

const PLOTS: readonly (readonly [string, PollHistory, Size, Record<string, string>])[] = [
  ['a single poll is a dot', createUserHistory(5), 'small', { line: 'M600 5h0' }],
  [
    'the line spans from zero to the maximum',
    createUserHistory(0, 5, 10),
    'large',
    { line: 'M0 95h0L300 50L600 5' },
  ],
  ['zeros are at the bottom', createUserHistory(0, 0), 'large', { line: 'M0 95h0L600 95' }],
  ['13 of 5,021 users less is flat', createUserHistory(5021, 5008), 'large', { line: 'M0 5h0L600 6' }],
  ['a small plot starts at zero', createUserHistory(1000, 900), 'small', { line: 'M0 5h0L600 14' }],
  [
    'a large plot starts at 75 % of the maximum',
    createUserHistory(1000, 900),
    'large',
    { line: 'M0 5h0L600 41' },
  ],
  [
    'a failed poll is a gap and a tick, not a zero',
    createUserHistory(10, 'failed', 10),
    'small',
    { line: 'M0 5h0M600 5h0', failed: 'M300 100v-25' },
  ],
];

for (const [name, history, size, expected] of PLOTS) {
  test(`plot: ${name}`, () => assert.deepEqual(readPaths(render(history, size)), expected));
}

test('the line of a rate starts with the second listing', () => {
  assert.deepEqual(readPaths(render(createUserHistory(1, 1, 1), 'small', 'ingress')), {
    line: 'M300 95h0L600 95',
  });
});

test('a plot shows its maximum, and where it starts unless that is zero', () => {
  const readRange = (plot: string) => /<span class="range">([^<]*)</.exec(plot)?.[1];
  assert.equal(readRange(render(createUserHistory(12_345, 50_000), 'small')), 'max 50.0 k');
  assert.equal(readRange(render(createUserHistory(0), 'small')), 'max 0');
  assert.equal(readRange(render(createUserHistory(1000, 990), 'large')), 'max 1,000, from 750');
});

test('a large plot has a label, and an area with time and value or error for each poll', () => {
  const plot = render(createUserHistory(10, 'failed', 20), 'large');
  assert.match(plot, /role="img"\s+aria-label="Users from 03:03:45 to 03:04:05 UTC: max 20"/);
  const areas = [...plot.matchAll(/<rect x="(\d+)" width="(\d+)"[^>]*>\s*<title>([^<]*)</g)];
  assert.deepEqual(
    areas.map(([, ...parts]) => parts),
    [
      ['0', '150', '03:03:45 10'],
      ['150', '300', '03:03:55 reset'],
      ['450', '150', '03:04:05 20'],
    ],
  );
});
