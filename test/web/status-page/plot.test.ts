import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { plot, rangeOf } from '../../../src/web/pages/plot.ts';

/** Polls every ten seconds: a number of users, or a failure. */
function historyOf(...users: readonly (number | 'failed')[]): PollHistory {
  const history = new PollHistory();
  users.forEach((found, at) => {
    const ended = { atMs: at * 10_000, durationMs: 5 };
    if (found === 'failed') history.note({ ...ended, error: 'reset' });
    else {
      const figures = { tasks: 0, stalledTasks: 0, connections: 0, inputBytes: 0, outputBytes: 0 };
      history.note({ ...ended, figures: { ...figures, users: found } });
    }
  });
  return history;
}

function paths(history: PollHistory, figure: 'users' | 'ingress' = 'users'): Record<string, string> {
  const found = plot(history.points(), figure).text.matchAll(/<path class="(\w+)" d="([^"]*)"/g);
  return Object.fromEntries([...found].map(([, name = '', d = '']) => [name, d]));
}

const PLOTS: readonly (readonly [string, PollHistory, Record<string, string>])[] = [
  ['nothing is no line', historyOf(), {}],
  ['one poll is a dot', historyOf(5), { line: 'M600 5h0' }],
  ['from zero up to the most', historyOf(0, 5, 10), { line: 'M0 95h0L300 50L600 5' }],
  ['zeros lie on the ground', historyOf(0, 0), { line: 'M0 95h0L600 95' }],
  [
    'a poll that failed is a gap and a tick, no zero',
    historyOf(10, 'failed', 10),
    { line: 'M0 5h0M600 5h0', failed: 'M300 100v-25' },
  ],
  ['failures alone are ticks alone', historyOf('failed', 'failed'), { failed: 'M0 100v-25M600 100v-25' }],
];

for (const [name, history, expected] of PLOTS) {
  test(`in a plot ${name}`, () => assert.deepEqual(paths(history), expected));
}

test('without a line there is no ground that would look like zero', () => {
  const classOf = (history: PollHistory) => /class="([^"]+)"/.exec(plot(history.points(), 'users').text)?.[1];
  assert.equal(classOf(historyOf(0)), 'plot');
  assert.equal(classOf(historyOf()), 'plot empty');
  assert.equal(classOf(historyOf('failed')), 'plot empty');
});

test('a rate begins with the second listing', () => {
  assert.deepEqual(paths(historyOf(1, 1, 1), 'ingress'), { line: 'M300 95h0L600 95' });
});

test('the range leaves out what is not known', () => {
  assert.deepEqual(rangeOf(historyOf(7, 'failed', 3).points(), 'users'), { least: 3, most: 7 });
  assert.equal(rangeOf(historyOf('failed').points(), 'users'), undefined);
});
