import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatServiceCodePath,
  isServiceCodePath,
  parseServiceCodePath,
} from '../../../../src/web/status-page/service-code-path.ts';
import { HOSTILE_NAMES } from './hostile-names.ts';

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
});

test('a service code with a lone surrogate has a path', () => {
  assert.equal(formatServiceCodePath('\uD800'), '/service-codes/%EF%BF%BD');
});
