import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scaleDurations } from './scale-durations.ts';

test('only durations are divided, in values and in expressions', () => {
  const yaml = `
    route: { group_wait: 30s, routes: [{ repeat_interval: 1h, matchers: ['for="1h"'] }] }
    groups:
      - rules:
          - { alert: A, expr: 'rate(a[5m] offset 1h) > 300', for: 1m30s, annotations: { summary: 5m } }
          - { record: b, expr: vector(60) }
  `;
  assert.deepEqual(scaleDurations(yaml, 60), {
    route: { group_wait: '500ms', routes: [{ repeat_interval: '1m', matchers: ['for="1h"'] }] },
    groups: [
      {
        rules: [
          { alert: 'A', expr: 'rate(a[5s] offset 1m) > 300', for: '1s500ms', annotations: { summary: '5m' } },
          { record: 'b', expr: 'vector(60)' },
        ],
      },
    ],
  });
});

test('an invalid duration is an error', () => {
  assert.throws(() => scaleDurations('for: soon', 60), { message: 'Expected a duration, found soon' });
});
