import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PollHistory } from '../../../../src/poller/poll-history.ts';
import {
  DEFAULT_QUERY,
  formatListUrl,
  formatServiceCodePath,
  isServiceCodePath,
  ORDERS,
  parseListQuery,
  parseServiceCodePath,
  queryRows,
} from '../../../../src/web/status-page/page-urls.ts';
import { CONDITIONS } from '../../../../src/web/status-page/conditions.ts';
import { arbitraryText } from '../../../support/arbitrary-text.ts';
import { HOSTILE_NAMES } from './hostile-names.ts';
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
  tasksWithoutInput: 0,
  tasksWithProgress: 0,
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

const parse = (url: string) => parseListQuery(new URL(url, 'http://localhost').searchParams);

const findCodes = (url: string): string =>
  queryRows(ROWS, parse(url))
    .rows.map(({ serviceCode }) => serviceCode)
    .join(' ');

const QUERY_CASES: readonly (readonly [url: string, codes: string])[] = [
  ['/', 'down stale idle stalled waiting large small'],
  ['/?sort=code', 'down idle large small stale stalled waiting'],
  ['/?sort=users', 'large stalled idle small down stale waiting'],
  ['/?sort=egress', 'large stalled idle small down stale waiting'],
  ['/?sort=success', 'stale large idle stalled small down waiting'],
  ['/?q=STAL', 'stale stalled'],
  ['/?q=unknown', ''],
  ['/?q=acme', 'large'],
  ['/?q=tenant=acme', 'large'],
  ['/?q=tenant=ac&state=down', ''],
  ['/?q=tenant=test', ''],
  ['/?state=idle', 'idle'],
  ['/?state=up&q=a&sort=code', 'large small stalled'],
];

for (const [url, expected] of QUERY_CASES) {
  test(`${url} finds ${expected === '' ? 'no rows' : expected}`, () =>
    assert.equal(findCodes(url), expected));
}

test('the pages of a list contain each service code once, in the order of the whole list', () => {
  const rows = Array.from({ length: 120 }, (_, index) =>
    createStatus(`code-${index}`, { totals: createTotals(index % 7) }),
  );
  for (const order of ORDERS) {
    const [first, second, third, beyond] = [1, 2, 3, 9].map((page) =>
      queryRows(rows, { ...DEFAULT_QUERY, order, page }),
    );
    const codes = [first, second, third].flatMap((results) => results?.rows ?? []);
    assert.equal(new Set(codes).size, 120);
    assert.deepEqual([second?.firstPosition, second?.pageCount, beyond], [51, 3, third]);
  }
});

test('a query survives formatting and parsing', () => {
  const query = fc.record(
    {
      filter: fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.trim()),
      condition: fc.option(fc.constantFrom(...CONDITIONS), { nil: undefined }),
      order: fc.constantFrom(...ORDERS),
      page: fc.integer({ min: 1, max: 9_999_999 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(fc.property(query, (value) => assert.deepEqual(parse(formatListUrl(value)), value)));
  assert.equal(formatListUrl(DEFAULT_QUERY), '/');
});

test('every query string gives a list', () => {
  const keys = fc.constantFrom('q', 'state', 'sort', 'page', 'other');
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, arbitraryText())), (pairs) => {
      const { matchingCount, page } = queryRows(ROWS, parseListQuery(new URLSearchParams(pairs)));
      assert.ok(matchingCount <= ROWS.length && page === 1);
    }),
  );
});

for (const url of ['?state=broken', '?sort=size', '?sort=users-asc', '?page=0', '?page=1e3', '?q=%20']) {
  test(`${url} gives the default query`, () => assert.deepEqual(parse(`/${url}`), DEFAULT_QUERY));
}

test('a filter is cut to 128 characters, not within a character', () => {
  assert.equal(parse(`/?q=${'👍'.repeat(200)}`).filter, '👍'.repeat(128));
});

test('a service code survives formatting and parsing of its path', () => {
  const codes = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom(...HOSTILE_NAMES, '.', '..', '...', '/', '%2E', '?service_code=x'),
  );
  fc.assert(
    fc.property(codes, (code) => {
      const { pathname, searchParams } = new URL(formatServiceCodePath(code), 'http://localhost/');
      assert.ok(isServiceCodePath(pathname));
      assert.equal(parseServiceCodePath(pathname, searchParams), code);
    }),
  );
  assert.equal(formatServiceCodePath('\uD800'), '/service-codes/%EF%BF%BD');
});
