import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { arrange } from '../../../src/web/pages/arrangement.ts';
import { DEFAULT_QUERY, ORDERS, type ListQuery } from '../../../src/web/pages/list-query.ts';
import type { ServiceCodeStatus } from '../../../src/web/view.ts';
import { downStatusOf, NOW_MS, statusOf, waitingStatusOf } from './status-of.ts';

function polledIn(durationMs: number): PollHistory {
  const history = new PollHistory();
  history.note({ atMs: 0, durationMs, error: 'timeout' });
  return history;
}

const figures = (value: number) => ({
  users: value,
  tasks: value * 2,
  stalledTasks: 0,
  connections: value * 3,
  ingress: value * 4,
  egress: value * 5,
});

const ROWS: readonly ServiceCodeStatus[] = [
  waitingStatusOf('waiting'),
  statusOf('small', { figures: figures(1), history: polledIn(30), lastSuccessMs: NOW_MS - 1000 }),
  statusOf('large', {
    labels: { env: 'test', tenant: 'Acme' },
    figures: figures(9),
    history: polledIn(10),
    lastSuccessMs: NOW_MS - 9000,
  }),
  statusOf('stalled', { figures: { ...figures(5), stalledTasks: 1 }, history: polledIn(20) }),
  statusOf('stale', { condition: 'stale', figures: undefined, lastSuccessMs: NOW_MS - 90_000 }),
  downStatusOf('down'),
];

const codes = (query: Partial<ListQuery>): string[] =>
  arrange(ROWS, { ...DEFAULT_QUERY, ...query }).rows.map(({ serviceCode }) => serviceCode);

const ORDERED: readonly (readonly [Partial<ListQuery>, string])[] = [
  [{}, 'down stale stalled waiting large small'],
  [{ isDescending: true }, 'large small waiting stalled stale down'],
  [{ order: 'code' }, 'down large small stale stalled waiting'],
  [{ order: 'users', isDescending: true }, 'large stalled small down stale waiting'],
  [{ order: 'users' }, 'small stalled large down stale waiting'],
  [{ order: 'egress', isDescending: true }, 'large stalled small down stale waiting'],
  [{ order: 'success' }, 'stale large stalled small down waiting'],
  [{ order: 'duration', isDescending: true }, 'small stalled large down stale waiting'],
  [{ filter: 'STAL' }, 'stale stalled'],
  [{ filter: 'nobody' }, ''],
  [{ filter: 'acme' }, 'large'],
  [{ filter: 'tenant=acme' }, 'large'],
  [{ filter: 'tenant=ac', condition: 'down' }, ''],
  [{ filter: 'tenant=test' }, ''],
  [{ condition: 'up' }, 'stalled large small'],
  [{ condition: 'up', filter: 'a', order: 'code' }, 'large small stalled'],
];

for (const [query, expected] of ORDERED) {
  test(`${JSON.stringify(query)} gives ${expected === '' ? 'nothing' : expected}`, () => {
    assert.deepEqual(codes(query).join(' '), expected);
  });
}

test('the pages of a list hold each service code once, in the order of the whole', () => {
  const many = fc.uniqueArray(fc.nat({ max: 1000 }), { maxLength: 120 });
  fc.assert(
    fc.property(many, fc.constantFrom(...ORDERS), fc.boolean(), (numbers, order, isDescending) => {
      const rows = numbers.map((value) => statusOf(`code-${value}`, { figures: figures(value % 7) }));
      const query = { ...DEFAULT_QUERY, order, isDescending };
      const whole = arrange(rows, { ...query, pageSize: 1000 }).rows;
      const { pages } = arrange(rows, { ...query, pageSize: 25 });
      const parts = Array.from({ length: pages }, (_, at) =>
        arrange(rows, { ...query, pageSize: 25, page: at + 1 }),
      );
      assert.deepEqual(
        parts.flatMap((part) => part.rows),
        whole,
      );
      assert.ok(parts.every(({ first }, at) => first === (rows.length === 0 ? 0 : at * 25 + 1)));
    }),
  );
});

test('beyond the last page is the last page', () => {
  const { page, pages, rows } = arrange(ROWS, { ...DEFAULT_QUERY, page: 9, pageSize: 4 });
  assert.deepEqual([page, pages, rows.length], [2, 2, 2]);
});
