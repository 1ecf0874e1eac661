import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PollHistory } from '../../../../src/poller/poll-history.ts';
import { PLOTTED_FIELDS, renderPlot } from '../../../../src/web/status-page/plot.ts';
import { createHistory } from './status-fixtures.ts';

function render(history: PollHistory, field = 'users'): string {
  const display = PLOTTED_FIELDS.find((plotted) => plotted.field === field);
  assert.ok(display !== undefined);
  return renderPlot(history.entries(), display).text;
}

const readPaths = (plot: string): string =>
  [...plot.matchAll(/<path class="(\w+)" d="([^"]*)"/g)].map(([, name, d]) => `${name} ${d}`).join(', ');

const usersOf = (...users: readonly number[]): PollHistory =>
  createHistory(...users.map((value) => ({ users: value })));

for (const [name, history, expected] of [
  ['a single poll is a dot', usersOf(5), 'line M600 5h0'],
  ['the line spans from zero to the maximum', usersOf(0, 5, 10), 'line M0 95h0L300 50L600 5'],
  ['zeros are at the bottom', usersOf(0, 0), 'line M0 95h0L600 95'],
  ['13 of 5,021 users less is flat', usersOf(5021, 5008), 'line M0 5h0L600 5'],
  [
    'a failed poll is a gap and a tick, not a zero',
    createHistory({ users: 10 }, ['reset'], { users: 10 }),
    'line M0 5h0M600 5h0, failed M300 100v-25',
  ],
] as const) {
  test(`plot: ${name}`, () => assert.equal(readPaths(render(history)), expected));
}

test('the line of a rate starts with the second listing', () => {
  assert.equal(readPaths(render(usersOf(1, 1, 1), 'ingress')), 'line M300 95h0L600 95');
});

test('a plot shows its maximum', () => {
  const readRange = (plot: string) => /<span class="range">([^<]*)</.exec(plot)?.[1];
  assert.equal(readRange(render(usersOf(12_345, 50_000))), 'max 50.0 k');
  assert.equal(readRange(render(usersOf(0))), 'max 0');
  assert.equal(readRange(render(createHistory(['reset']))), 'no data');
});
