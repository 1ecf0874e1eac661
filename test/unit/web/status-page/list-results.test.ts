import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PollHistory } from '../../../../src/poller/poll-history.ts';
import { queryRows } from '../../../../src/web/status-page/list-results.ts';
import { DEFAULT_QUERY, ORDERS, type ListQuery } from '../../../../src/web/status-page/list-query.ts';
import type { ServiceCodeStatus } from '../../../../src/web/exporter-facade.ts';
import { createDownStatus, NOW_MS, createStatus, createWaitingStatus } from './status-fixtures.ts';

function createHistory(durationMs: number): PollHistory {
  const history = new PollHistory();
  history.append({ atMs: 0, durationMs, error: 'timeout' });
  return history;
}

const createTotals = (value: number) => ({
  users: value,
  tasks: value * 2,
  stalledTasks: 0,
  connections: value * 3,
  ingress: value * 4,
  egress: value * 5,
});

const ROWS: readonly ServiceCodeStatus[] = [
  createWaitingStatus('waiting'),
  createStatus('small', {
    totals: createTotals(1),
    history: createHistory(30),
    lastSuccessMs: NOW_MS - 1000,
  }),
  createStatus('large', {
    labels: { env: 'test', tenant: 'Acme' },
    totals: createTotals(9),
    history: createHistory(10),
    lastSuccessMs: NOW_MS - 9000,
  }),
  createStatus('stalled', { totals: { ...createTotals(5), stalledTasks: 1 }, history: createHistory(20) }),
  createStatus('idle', { condition: 'idle', totals: createTotals(3), history: createHistory(15) }),
  createStatus('stale', { condition: 'stale', totals: undefined, lastSuccessMs: NOW_MS - 90_000 }),
  createDownStatus('down'),
];

const findCodes = (query: Partial<ListQuery>): string[] =>
  queryRows(ROWS, { ...DEFAULT_QUERY, ...query }).rows.map(({ serviceCode }) => serviceCode);

const QUERY_CASES: readonly (readonly [Partial<ListQuery>, string])[] = [
  [{}, 'down stale idle stalled waiting large small'],
  [{ isDescending: true }, 'large small waiting stalled idle stale down'],
  [{ order: 'code' }, 'down idle large small stale stalled waiting'],
  [{ order: 'users', isDescending: true }, 'large stalled idle small down stale waiting'],
  [{ order: 'users' }, 'small idle stalled large down stale waiting'],
  [{ order: 'egress', isDescending: true }, 'large stalled idle small down stale waiting'],
  [{ order: 'success' }, 'stale large idle stalled small down waiting'],
  [{ order: 'duration', isDescending: true }, 'small stalled idle large down stale waiting'],
  [{ filter: 'STAL' }, 'stale stalled'],
  [{ filter: 'unknown' }, ''],
  [{ filter: 'acme' }, 'large'],
  [{ filter: 'tenant=acme' }, 'large'],
  [{ filter: 'tenant=ac', condition: 'down' }, ''],
  [{ filter: 'tenant=test' }, ''],
  [{ condition: 'idle' }, 'idle'],
  [{ condition: 'up' }, 'stalled large small'],
  [{ condition: 'up', filter: 'a', order: 'code' }, 'large small stalled'],
];

for (const [query, expected] of QUERY_CASES) {
  test(`${JSON.stringify(query)} finds ${expected === '' ? 'no rows' : expected}`, () => {
    assert.deepEqual(findCodes(query).join(' '), expected);
  });
}

test('the pages of a list contain each service code once, in the order of the whole list', () => {
  const many = fc.uniqueArray(fc.nat({ max: 1000 }), { maxLength: 120 });
  fc.assert(
    fc.property(many, fc.constantFrom(...ORDERS), fc.boolean(), (numbers, order, isDescending) => {
      const rows = numbers.map((value) => createStatus(`code-${value}`, { totals: createTotals(value % 7) }));
      const query = { ...DEFAULT_QUERY, order, isDescending };
      const whole = queryRows(rows, { ...query, pageSize: 1000 }).rows;
      const { pageCount } = queryRows(rows, { ...query, pageSize: 25 });
      const pages = Array.from({ length: pageCount }, (_, index) =>
        queryRows(rows, { ...query, pageSize: 25, page: index + 1 }),
      );
      assert.deepEqual(
        pages.flatMap((page) => page.rows),
        whole,
      );
      assert.ok(
        pages.every(({ firstPosition }, index) => firstPosition === (rows.length === 0 ? 0 : index * 25 + 1)),
      );
    }),
  );
});

test('a page beyond the last one shows the last one', () => {
  const { page, pageCount, rows } = queryRows(ROWS, { ...DEFAULT_QUERY, page: 9, pageSize: 4 });
  assert.deepEqual([page, pageCount, rows.length], [2, 2, 3]);
});
