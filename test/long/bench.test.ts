import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { benchCodes } from '../bench/codes.ts';
import { benchGrowth } from '../bench/growth.ts';
import { benchJournal } from '../bench/journal.ts';
import { benchLabelSets } from '../bench/label-sets.ts';
import { benchLedger } from '../bench/ledger.ts';
import { compare, type Comparison } from '../bench/measure.ts';
import { benchPolling } from '../bench/polling.ts';
import { benchReading } from '../bench/reading.ts';
import { benchResponsiveness } from '../bench/responsiveness.ts';
import { benchScraping } from '../bench/scraping.ts';

const SMALL_SIZE = { users: 40, tasks: 4 };

// Sizes at which each part runs quickly. The figures are meaningless.
const PARTS: Readonly<Record<string, () => Promise<Comparison[]>>> = {
  reading: () => benchReading([{ ...SMALL_SIZE, rounds: 1, goal: 1 }]),
  polling: () =>
    benchPolling({ ...SMALL_SIZE, processes: 1, rounds: 1, warmUpPolls: 1, fewUsers: 10, manyUsers: 20 }),
  responsiveness: () => benchResponsiveness({ ...SMALL_SIZE, scrapes: 5, scrapeIntervalMs: 20, warmUp: 1 }),
  ledger: () => benchLedger({ tasks: 60, rounds: 2 }),
  codes: () => benchCodes({ ...SMALL_SIZE, codes: 3, intervalMs: 1000, rounds: 1 }),
  journal: () => benchJournal({ ...SMALL_SIZE, codes: 3, intervalMs: 1000, rounds: 2 }),
  'label-sets': () => benchLabelSets({ codes: 1, servers: 2, versions: 2, deviceTypes: 2, rounds: 1 }),
  growth: () => benchGrowth({ users: 2, tasks: 2, rounds: 1 }),
  scraping: () => benchScraping([{ ...SMALL_SIZE, series: 300, scrapes: 2, rounds: 1, connections: [1, 2] }]),
};

test('each part of the benchmark returns figures with unique names', { concurrency: 2 }, async (t) => {
  const parts = Object.entries(PARTS).map(([part, bench]) =>
    t.test(part, async () => {
      const comparisons = await bench();
      const keys = comparisons.map(({ name, reference }) => `${name} ${reference}`);
      assert.equal(new Set(keys).size, keys.length);
      const figures = comparisons.flatMap((one) => [one.value, one.figure, one.referenceValue ?? 0]);
      assert.deepEqual(
        figures.filter((figure) => Number.isNaN(figure)),
        [],
      );
    }),
  );
  await Promise.all(parts);
});

test('a goal bounds a figure from above or from below', () => {
  const figures = { name: 'memory', unit: 'MB', value: 150, reference: 'reading', referenceValue: 100 };
  const cases = [
    [{ measure: 'excess', direction: 'at most', bound: 48 }, 50, 'MB', false],
    [{ measure: 'ratio', direction: 'at most', bound: 1.5 }, 1.5, '×', true],
    [{ measure: 'ratio', direction: 'at least', bound: 2 }, 1.5, '×', false],
    [{ measure: 'saving', direction: 'at least', bound: 0.5 }, 100 / 150, '×', true],
    [{ measure: 'value', direction: 'at least' }, 150, 'MB', undefined],
  ] as const;
  for (const [goal, figure, figureUnit, isMet] of cases) {
    const compared = compare(figures, goal);
    assert.deepEqual([compared.figure, compared.figureUnit, compared.isMet], [figure, figureUnit, isMet]);
  }
});

test('the comparison of two runs knows whether less or more is better', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const runs = [100, 50].map((value) => {
    const comparisons = [
      compare({ name: 'cost', unit: 'ms', value }, { measure: 'value', direction: 'at most', bound: 60 }),
      compare({ name: 'speed', unit: 'MB/s', value }, { measure: 'value', direction: 'at least', bound: 60 }),
    ];
    const path = join(folder, `${value}.json`);
    writeFileSync(path, JSON.stringify({ comparisons }));
    return path;
  });
  const script = fileURLToPath(new URL('../../../scripts/compare-bench.mjs', import.meta.url));
  const { stdout } = spawnSync(process.execPath, [script, ...runs], { encoding: 'utf8' });
  assert.match(stdout, /100 % better .* met +cost\n.*50 % worse .* not met +speed\n/);
});
