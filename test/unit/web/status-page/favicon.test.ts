import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceCodeStatus } from '../../../../src/web/exporter-facade.ts';
import { findWorstIcon, renderFavicon, type IconState } from '../../../../src/web/status-page/favicon.ts';
import { createDownStatus, createStatus, createWaitingStatus } from './status-fixtures.ts';

const { totals } = createStatus('A');
assert.ok(totals !== undefined);
const up = createStatus('UP');
const stalled = createStatus('STALLED', { totals: { ...totals, stalledTasks: 1 } });
const stale = createStatus('STALE', { condition: 'stale' });
const idle = createStatus('IDLE', { condition: 'idle' });
const waiting = createWaitingStatus('WAITING');
const down = createDownStatus('DOWN');

const ICONS: readonly (readonly [readonly ServiceCodeStatus[], IconState])[] = [
  [[], 'waiting'],
  [[up, up], 'up'],
  [[up, waiting], 'waiting'],
  [[up, waiting, stalled], 'problem'],
  [[idle, up], 'problem'],
  [[up, stale], 'problem'],
  [[up, stale, down, waiting], 'down'],
];

for (const [rows, expected] of ICONS) {
  const codes = rows.map(({ serviceCode }) => serviceCode).join(', ');
  test(`the icon of ${codes === '' ? 'no service code' : codes} is ${expected}`, () => {
    assert.equal(findWorstIcon(rows), expected);
  });
}

test('each state has an icon of its own, a valid data URL', () => {
  const states: readonly IconState[] = ['down', 'problem', 'up', 'waiting'];
  const urls = states.map((state) => /href="([^"]+)"/.exec(renderFavicon(state).text)?.[1] ?? '');
  assert.equal(new Set(urls).size, states.length);
  for (const url of urls) {
    assert.match(decodeURIComponent(url), /^data:image\/svg\+xml,<svg [^]*<\/svg>$/);
    assert.doesNotMatch(url, /[<>"#]/);
  }
});
