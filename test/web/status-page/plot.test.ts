import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { renderPlot, findRange } from '../../../src/web/status-page/plot.ts';

/** A history of polls every ten seconds, each with a number of users or failed. */
function createHistory(...users: readonly (number | 'failed')[]): PollHistory {
  const history = new PollHistory();
  users.forEach((value, index) => {
    const poll = { atMs: index * 10_000, durationMs: 5 };
    if (value === 'failed') history.append({ ...poll, error: 'reset' });
    else {
      const totals = { tasks: 0, stalledTasks: 0, connections: 0, inputBytes: 0, outputBytes: 0 };
      history.append({ ...poll, totals: { ...totals, users: value } });
    }
  });
  return history;
}

function readPaths(history: PollHistory, field: 'users' | 'ingress' = 'users'): Record<string, string> {
  const paths = renderPlot(history.entries(), field).text.matchAll(/<path class="(\w+)" d="([^"]*)"/g);
  return Object.fromEntries([...paths].map(([, name = '', d = '']) => [name, d]));
}

const PLOTS: readonly (readonly [string, PollHistory, Record<string, string>])[] = [
  ['an empty history has no line', createHistory(), {}],
  ['a single poll is a dot', createHistory(5), { line: 'M600 5h0' }],
  ['the line spans from zero to the maximum', createHistory(0, 5, 10), { line: 'M0 95h0L300 50L600 5' }],
  ['zeros are at the bottom', createHistory(0, 0), { line: 'M0 95h0L600 95' }],
  [
    'a failed poll is a gap and a tick, not a zero',
    createHistory(10, 'failed', 10),
    { line: 'M0 5h0M600 5h0', failed: 'M300 100v-25' },
  ],
  [
    'failed polls alone have ticks and no line',
    createHistory('failed', 'failed'),
    { failed: 'M0 100v-25M600 100v-25' },
  ],
];

for (const [name, history, expected] of PLOTS) {
  test(`plot: ${name}`, () => assert.deepEqual(readPaths(history), expected));
}

test('a plot without a line has no baseline, which would look like zero', () => {
  const readClass = (history: PollHistory) =>
    /class="([^"]+)"/.exec(renderPlot(history.entries(), 'users').text)?.[1];
  assert.equal(readClass(createHistory(0)), 'plot');
  assert.equal(readClass(createHistory()), 'plot empty');
  assert.equal(readClass(createHistory('failed')), 'plot empty');
});

test('the line of a rate starts with the second listing', () => {
  assert.deepEqual(readPaths(createHistory(1, 1, 1), 'ingress'), { line: 'M300 95h0L600 95' });
});

test('the range ignores unknown values', () => {
  assert.deepEqual(findRange(createHistory(7, 'failed', 3).entries(), 'users'), { min: 3, max: 7 });
  assert.equal(findRange(createHistory('failed').entries(), 'users'), undefined);
});
