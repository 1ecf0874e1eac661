import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getErrorCode, getErrorMessage } from '../../../src/runtime/errors.ts';

const CASES: readonly (readonly [
  name: string,
  thrown: unknown,
  code: string | undefined,
  message: string,
])[] = [
  ['a system error', Object.assign(new Error('disk full'), { code: 'ENOSPC' }), 'ENOSPC', 'disk full'],
  ['an error without code', new TypeError('bug'), undefined, 'bug'],
  ['an error with a numeric code', Object.assign(new Error('odd'), { code: 7 }), undefined, 'odd'],
  ['a string', 'thrown text', undefined, 'thrown text'],
  ['undefined', undefined, undefined, 'undefined'],
];

for (const [name, thrown, code, message] of CASES) {
  test(`${name} has the code ${code} and the message "${message}"`, () => {
    assert.deepEqual([getErrorCode(thrown), getErrorMessage(thrown)], [code, message]);
  });
}
