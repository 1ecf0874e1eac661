import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format } from 'prettier';
import { z } from 'zod';
import { tableOf } from '../bench/table.ts';
import { assertGolden } from '../support/fixtures.ts';
import { repositoryText } from '../support/repository.ts';

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

/** The table of the README with the line that names the machine. */
const TABLE = /^<summary>.*<\/summary>\n\n\| what .*?\n\n(?=<\/details>)/ms;

test('the table of the README is that of the run whose figures are kept', async () => {
  const { machine, comparisons } = RESULTS.parse(JSON.parse(repositoryText('test/bench/results.json')));
  const table = await format(tableOf(comparisons), { parser: 'markdown' });
  const expected = `<summary>${machine}</summary>\n\n${table}\n`;
  const readme = repositoryText('README.md');
  assert.match(readme, TABLE);
  assertGolden(
    '../../README.md',
    readme.replace(TABLE, () => expected),
  );
});
