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
  goal: z.number().exactOptional(),
  isMet: z.boolean().exactOptional(),
});

const RESULTS = z.object({ machine: z.string(), comparisons: z.array(COMPARISON) });

/** The table of docs/performance.md and the line that names the machine. */
const TABLE = /^<summary>.*<\/summary>\n\n\| what .*?\n\n(?=<\/details>)/ms;

test('docs/performance.md shows the results of the committed run', async () => {
  const { machine, comparisons } = RESULTS.parse(JSON.parse(readRepositoryFile('test/bench/results.json')));
  const table = await format(formatTable(comparisons), { parser: 'markdown' });
  const expected = `<summary>${machine}</summary>\n\n${table}\n`;
  const page = readRepositoryFile('docs/performance.md');
  assert.match(page, TABLE);
  assertGolden(
    '../../docs/performance.md',
    page.replace(TABLE, () => expected),
  );
});
