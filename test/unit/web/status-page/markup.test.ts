import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { html, renderName, trusted } from '../../../../src/web/status-page/markup.ts';
import { arbitraryText } from '../../../support/arbitrary-text.ts';
import { HOSTILE_NAMES } from './status-fixtures.ts';

test('texts in elements and attributes are escaped', () => {
  const texts = fc.oneof(arbitraryText(), fc.constantFrom(...HOSTILE_NAMES));
  fc.assert(
    fc.property(texts, (text) => {
      const { text: page } = html`<a title="${text}">${text}</a>`;
      assert.match(page, /^<a title="[^"'<>`]*">[^"'<>`]*<\/a>$/u);
      assert.doesNotMatch(page.replaceAll(/&#\d+;/g, ''), /&/);
      assert.doesNotMatch(page, /[\p{Bidi_Control}\p{Cs}]|[^\P{Cc}\n]/u);
    }),
  );
});

test('markup is inserted unescaped, alone and in lists', () => {
  const list = [html`<b>${'<'}</b>`, trusted('<i></i>')];
  assert.equal(html`${list}${undefined}${7}${renderName('&')}`.text, '<b>&#60;</b><i></i>7<bdi>&#38;</bdi>');
});

const SHOWN: readonly (readonly [string, string])[] = [
  ['\u202Eabc', '[U+202E]abc'],
  ['a\u200Fb\u061C', 'a[U+200F]b[U+061C]'],
  ['a\u0000b\u0085', 'a\uFFFDb\uFFFD'],
  ['\uD800', '\uFFFD'],
  ['👩‍👩‍👧', '👩‍👩‍👧'],
  ['עברית', 'עברית'],
];

for (const [text, shown] of SHOWN) {
  test(`${JSON.stringify(text)} is shown as ${shown}`, () => assert.equal(html`${text}`.text, shown));
}
