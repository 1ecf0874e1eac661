import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format } from 'prettier';
import { z } from 'zod';
import { formatTable } from '../../bench/table.ts';
import { assertGolden } from '../../support/fixtures.ts';
import { readRepositoryFile } from '../../support/repository.ts';

const COMPARISON = z.object({
  name: z.string(),
  unit: z.string(),
  value: z.number(),
  reference: z.string().exactOptional(),
  referenceValue: z.number().exactOptional(),
  figure: z.number(),
  figureUnit: z.string(),
  direction: z.enum(['at most', 'at least']),
  goal: z.number(),
  isMet: z.boolean(),
});

const { machine, comparisons } = z
  .object({ machine: z.string(), comparisons: z.array(COMPARISON) })
  .parse(JSON.parse(readRepositoryFile('test/bench/results.json')));

test('docs/performance.md shows the figures of the committed run', async () => {
  const text = readRepositoryFile('docs/performance.md');
  const figures = /(<!-- figures:begin -->\n).*?(?=\n<!-- figures:end -->)/s;
  assert.match(text, figures);
  const table = await format(formatTable(comparisons), { parser: 'markdown' });
  assertGolden(
    '../../docs/performance.md',
    text.replace(figures, (_, begin: string) => `${begin}\n${machine}.\n\n${table}`),
  );
});
