import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arrange } from '../../../src/web/pages/arrangement.ts';
import { codeAddress, codeOfAddress, isCodeAddress } from '../../../src/web/pages/code-address.ts';
import { CONDITIONS } from '../../../src/web/pages/conditions.ts';
import {
  DEFAULT_QUERY,
  listAddress,
  ORDERS,
  PAGE_SIZES,
  parseListQuery,
} from '../../../src/web/pages/list-query.ts';
import { HOSTILE_NAMES } from './hostile-names.ts';
import { statusOf } from './status-of.ts';

const parsed = (address: string) => parseListQuery(new URL(address, 'http://localhost').searchParams);

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

test('an address says what its query means', () => {
  fc.assert(fc.property(query, (one) => assert.deepEqual(parsed(listAddress(one)), one)));
});

test('the usual list has the plain address', () => {
  assert.equal(listAddress(DEFAULT_QUERY), '/');
  assert.deepEqual(parsed('/'), DEFAULT_QUERY);
});

test('whatever a query holds, a list comes of it', () => {
  const keys = fc.constantFrom('q', 'state', 'sort', 'page', 'per_page', 'other');
  const rows = [statusOf('A'), statusOf('B')];
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, fc.string({ unit: 'binary' }))), (pairs) => {
      const found = parseListQuery(new URLSearchParams(pairs));
      const { first, matching, page, pages } = arrange(rows, found);
      assert.ok(matching <= 2 && page === 1 && pages === 1 && first === Math.min(1, matching));
    }),
  );
});

const NOT_UNDERSTOOD: readonly string[] = [
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

for (const address of NOT_UNDERSTOOD) {
  test(`${address} is the usual list`, () => assert.deepEqual(parsed(address), DEFAULT_QUERY));
}

test('a filter is cut where a service code ends, and not within a character', () => {
  assert.equal(parsed(`/?q=${'👍'.repeat(200)}`).filter, '👍'.repeat(128));
});

test("every service code's page is found by the address that leads there", () => {
  const codes = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom(...HOSTILE_NAMES, '.', '..', '...', '/', '%2E', '?service_code=x'),
  );
  fc.assert(
    fc.property(codes, (code) => {
      const { pathname, searchParams } = new URL(codeAddress(code), 'http://localhost/');
      assert.ok(isCodeAddress(pathname));
      assert.equal(codeOfAddress(pathname, searchParams), code);
    }),
  );
});

test('a service code of half a character has an address all the same', () => {
  assert.equal(codeAddress('\uD800'), '/service-codes/%EF%BF%BD');
});
