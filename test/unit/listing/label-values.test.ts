import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sanitizeLabelValue } from '../../../src/listing/label-values.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';

test('label values are sanitized', async (t) => {
  const table: [string, string | undefined, string][] = [
    ['plain', '451', '451'],
    ['missing', undefined, 'unknown'],
    ['empty', '', 'unknown'],
    ['only control characters', '\u0000\u001f\u007f\u0085', 'unknown'],
    ['control characters within', 'a\nb\u0000c', 'abc'],
    ['format characters', '4\u202e51\u200b\ufeff\u{e0041}', '451'],
    ['only format characters', '\u200b\u2060', 'unknown'],
    ['a lone surrogate', 'a\ud800b', 'a\ufffdb'],
    ['too long', 'x'.repeat(129), 'x'.repeat(128)],
    ['too long, of wide characters', '😀'.repeat(200), '😀'.repeat(128)],
    ['quotes and backslashes stay', 'a"b\\c', 'a"b\\c'],
  ];
  for (const [name, text, value] of table)
    await t.test(name, () => assert.equal(sanitizeLabelValue(text), value));
});

test('a label value is well-formed Unicode of 1 to 128 characters without control characters', () => {
  fc.assert(
    fc.property(arbitraryText(600), (text) => {
      const value = sanitizeLabelValue(text);
      const length = Array.from(value).length;
      assert.ok(length >= 1 && length <= 128 && value.isWellFormed() && !/[\p{Cc}\p{Cf}]/u.test(value));
    }),
  );
});
