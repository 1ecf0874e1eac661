import assert from 'node:assert/strict';
import test from 'node:test';
import { benchCodes } from '../bench/codes.ts';
import { benchLedger } from '../bench/ledger.ts';
import type { Comparison } from '../bench/measure.ts';
import { benchPolling } from '../bench/polling.ts';
import { benchReading } from '../bench/reading.ts';
import { benchScraping } from '../bench/scraping.ts';
import { benchSmall } from '../bench/small.ts';

const SIZE = { users: 40, tasks: 4 };

// Sizes at which each part runs quickly. The figures are meaningless.
const PARTS: Readonly<Record<string, () => Promise<Comparison[]>>> = {
  reading: () => benchReading([{ ...SIZE, rounds: 1, times: 1, goal: 1 }]),
  polling: () => benchPolling({ ...SIZE, processes: 1 }),
  small: () => benchSmall({ ...SIZE, warmUpSeconds: 2, seconds: 2 }),
  ledger: () => benchLedger({ tasks: 60, rounds: 2 }),
  codes: () => benchCodes({ ...SIZE, codes: 3, intervalMs: 1000, rounds: 2 }),
  scraping: () => benchScraping([{ ...SIZE, series: 300, scrapes: 2, rounds: 1, goal: 1 }]),
};

test('each part of the benchmark returns figures with unique names', { concurrency: 2 }, async (t) => {
  const parts = Object.entries(PARTS).map(([part, bench]) =>
    t.test(part, async () => {
      const comparisons = await bench();
      assert.equal(new Set(comparisons.map(({ name }) => name)).size, comparisons.length);
      const figures = comparisons.flatMap((one) => [one.value, one.figure, one.referenceValue ?? 0]);
      assert.deepEqual(
        figures.filter((figure) => Number.isNaN(figure)),
        [],
      );
    }),
  );
  await Promise.all(parts);
});
