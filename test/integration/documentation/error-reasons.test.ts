import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format } from 'prettier';
import { POLL_ERRORS } from '../../../src/upstream/error-table.ts';
import { POLL_ERROR_REASONS } from '../../../src/upstream/errors.ts';
import { assertGolden } from '../../support/fixtures.ts';
import { readRepositoryFile } from '../../support/repository.ts';

test('README.md shows the table of error reasons', async () => {
  const text = readRepositoryFile('README.md');
  const table = /(<!-- reasons:begin -->\n).*?(?=\n<!-- reasons:end -->)/s;
  assert.match(text, table);
  const rows = POLL_ERROR_REASONS.map((reason) => {
    return `| \`${reason}\` | ${POLL_ERRORS[reason].sentence} |`;
  });
  const head = ['| reason | meaning |', '| - | - |'];
  const formatted = await format([...head, ...rows].join('\n'), { parser: 'markdown' });
  assertGolden(
    '../../README.md',
    text.replace(table, (_, begin: string) => `${begin}\n${formatted}`),
  );
});
