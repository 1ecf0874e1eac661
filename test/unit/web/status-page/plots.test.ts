import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PollHistory } from '../../../../src/poller/poll-history.ts';
import { PLOTTED_FIELDS } from '../../../../src/web/status-page/plotted-fields.ts';
import { renderSparkline } from '../../../../src/web/status-page/sparkline.ts';
import { renderTimePlot } from '../../../../src/web/status-page/time-plot.ts';
import { createUserHistory } from './status-fixtures.ts';

const LATEST_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

const [users] = PLOTTED_FIELDS;
assert.ok(users !== undefined);
const renderSmall = (history: PollHistory) => renderSparkline(history.entries(), users, LATEST_MS).text;
const renderLarge = (history: PollHistory) => renderTimePlot(history.entries(), users, LATEST_MS).text;

test('a small plot shows its maximum, and on hover the times and values of its first, last and highest poll', () => {
  const plot = renderSmall(createUserHistory(12_345, 50_000, 20_000));
  assert.match(plot, /<span class="maximum">max 50\.0 k<\/span>/);
  assert.match(
    plot,
    /<title>Users: 03:03:45 12\.3 k to 03:04:05 20\.0 k; maximum 03:03:55 50\.0 k \(UTC\)<\/title>/,
  );
});

test('a small plot of failed polls shows the reason on hover, and no maximum', () => {
  const plot = renderSmall(createUserHistory('failed', 'failed'));
  assert.match(plot, /<title>Users: 03:03:55 reset to 03:04:05 reset \(UTC\)<\/title>/);
  assert.doesNotMatch(plot, /maximum/);
});

test('a plot without a line has no baseline, which would look like zero', () => {
  for (const render of [renderSmall, renderLarge]) {
    const readClass = (history: PollHistory) => /<svg\s+class="(plot[^"]*)"/.exec(render(history))?.[1];
    assert.doesNotMatch(readClass(createUserHistory(0)) ?? '', /empty/);
    assert.match(readClass(createUserHistory('failed')) ?? '', /empty/);
    assert.equal(readClass(createUserHistory()), undefined);
  }
});

test('a large plot shows its maximum, the start of its scale, and its first and last time', () => {
  const plot = renderLarge(createUserHistory(1000, 1010, 990));
  assert.match(plot, /<text class="range" y="1em">max 1,010, scale from 990<\/text>/);
  assert.match(plot, /<span>03:03:45<\/span> <span>03:04:05 UTC<\/span>/);
  assert.match(plot, /aria-label="Users from 03:03:45 to 03:04:05 UTC: max 1,010, scale from 990"/);
});

test('each poll of a large plot has an area with its time and value, or its error', () => {
  const plot = renderLarge(createUserHistory(10, 'failed', 20));
  const areas = [...plot.matchAll(/<g class="(point[^"]*)"><rect x="([\d.]+)%" width="([\d.]+)%"/g)];
  assert.deepEqual(
    areas.map(([, ...parts]) => parts),
    [
      ['point', '0', '25'],
      ['point', '25', '50'],
      ['point current', '75', '25'],
    ],
  );
  const texts = [...plot.matchAll(/<text class="(start|middle|end)"[^>]*>([^<]*)</g)];
  assert.deepEqual(
    texts.map(([, ...parts]) => parts),
    [
      ['start', '03:03:45 10'],
      ['middle', '03:03:55 reset'],
      ['end', '03:04:05 20'],
    ],
  );
});
