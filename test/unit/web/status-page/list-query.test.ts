import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { queryRows } from '../../../../src/web/status-page/list-results.ts';
import { CONDITIONS } from '../../../../src/web/status-page/conditions.ts';
import {
  DEFAULT_QUERY,
  formatListUrl,
  ORDERS,
  PAGE_SIZES,
  parseListQuery,
} from '../../../../src/web/status-page/list-query.ts';
import { arbitraryText } from '../../../support/arbitrary-text.ts';
import { createStatus } from './status-fixtures.ts';

const parse = (url: string) => parseListQuery(new URL(url, 'http://localhost').searchParams);

const query = fc.record(
  {
    filter: fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.trim()),
    condition: fc.option(fc.constantFrom(...CONDITIONS), { nil: undefined }),
    order: fc.constantFrom(...ORDERS),
    isDescending: fc.boolean(),
    page: fc.integer({ min: 1, max: 9_999_999 }),
    pageSize: fc.constantFrom(...PAGE_SIZES),
  },
  { noNullPrototype: true },
);

test('a query survives formatting and parsing', () => {
  fc.assert(fc.property(query, (value) => assert.deepEqual(parse(formatListUrl(value)), value)));
});

test('the default query has no parameters', () => {
  assert.equal(formatListUrl(DEFAULT_QUERY), '/');
  assert.deepEqual(parse('/'), DEFAULT_QUERY);
});

test('every query string gives a list', () => {
  const keys = fc.constantFrom('q', 'state', 'sort', 'page', 'per_page', 'other');
  const rows = [createStatus('A'), createStatus('B')];
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, arbitraryText())), (pairs) => {
      const parsed = parseListQuery(new URLSearchParams(pairs));
      const { firstPosition, matchingCount, page, pageCount } = queryRows(rows, parsed);
      assert.ok(
        matchingCount <= 2 && page === 1 && pageCount === 1 && firstPosition === Math.min(1, matchingCount),
      );
    }),
  );
});

const INVALID_QUERIES: readonly string[] = [
  '/?state=broken',
  '/?state=',
  '/?sort=size',
  '/?sort=users-up',
  '/?sort=state-',
  '/?page=0',
  '/?page=-1',
  '/?page=1.5',
  '/?page=1e3',
  '/?page=99999999',
  '/?per_page=51',
  '/?per_page=1000000',
  '/?q=%20',
];

for (const url of INVALID_QUERIES) {
  test(`${url} gives the default query`, () => assert.deepEqual(parse(url), DEFAULT_QUERY));
}

test('a filter is cut to 128 characters, not within a character', () => {
  assert.equal(parse(`/?q=${'👍'.repeat(200)}`).filter, '👍'.repeat(128));
});
