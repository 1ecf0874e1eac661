import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildContentSecurityPolicy } from '../../../../src/web/status-page/document.ts';
import { parseListQuery, renderListPage } from '../../../../src/web/status-page/list-page.ts';
import { formatExplainCommand } from '../../../../src/web/status-page/service-code-page.ts';
import { arbitraryText } from '../../../support/arbitrary-text.ts';
import { createEmptyFacade } from '../fake-facade.ts';
import { HOSTILE_NAMES } from './status-fixtures.ts';

test('every query string gives a list', () => {
  const keys = fc.constantFrom('q', 'page', 'other');
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, arbitraryText())), (pairs) => {
      const { filter, page } = parseListQuery(new URLSearchParams(pairs));
      assert.ok(Array.from(filter).length <= 128 && page >= 1);
    }),
  );
  const { filter } = parseListQuery(new URLSearchParams({ q: '👍'.repeat(200) }));
  assert.equal(filter, '👍'.repeat(128));
});

test('the Content-Security-Policy allows only the style and the script of the pages, by hash, and icons in the page', () => {
  const page = renderListPage(createEmptyFacade(), new URLSearchParams());
  const hashOf = (tag: string): string => {
    const [, text = ''] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page) ?? [];
    return createHash('sha256').update(text).digest('base64');
  };
  assert.equal(
    buildContentSecurityPolicy(),
    `default-src 'none'; style-src 'sha256-${hashOf('style')}'; script-src 'sha256-${hashOf('script')}'; ` +
      "img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  assert.doesNotMatch(page, / style=| on\w+=|src=/);
});

test('a shell passes any service code of the explain command on unchanged', () => {
  const codes = fc.oneof(
    fc.constantFrom(...HOSTILE_NAMES),
    fc.string({ unit: 'binary-ascii', minLength: 1 }).filter((code) => !code.includes('\0')),
  );
  const cases = fc.sample(codes, 30);
  const script = cases.map((code) => formatExplainCommand(['p'], code, undefined)).join('\n');
  const output = execFileSync('sh', ['-c', `p() { printf '%s\\0' "$3"; }\n${script}`], { encoding: 'utf8' });
  assert.deepEqual(
    output.split('\0').slice(0, -1),
    cases.map((code) => `--only=${code}`),
  );
});
