import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format } from 'prettier';
import { z } from 'zod';
import { drawComparisons } from '../../bench/picture.ts';
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

/** Pages with figures, and the rows that they show. */
const PAGES = {
  'docs/performance.md': comparisons,
  'README.md': comparisons.filter(({ name }) =>
    /^(?:first|one) poll|every 15 s, (?:share|CPU|peak)|^scrape of [34]00 /.test(name),
  ),
};

for (const [page, rows] of Object.entries(PAGES)) {
  test(`${page} shows the figures of the committed run`, async () => {
    const text = readRepositoryFile(page);
    const figures = /(<!-- figures:begin -->\n).*?(?=\n<!-- figures:end -->)/s;
    assert.match(text, figures);
    const table = await format(formatTable(rows), { parser: 'markdown' });
    assertGolden(
      `../../${page}`,
      text.replace(figures, (_, begin: string) => `${begin}\n${machine}.\n\n${table}`),
    );
  });
}

test('the picture of docs/performance.md shows the figures of the committed run', () => {
  assertGolden('../../docs/pictures/performance.svg', drawComparisons(comparisons));
});
