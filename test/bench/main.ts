import { cpus } from 'node:os';
import type { Comparison } from './measure.ts';
import { benchReading } from './reading.ts';
import { benchScraping } from './scraping.ts';

/** Prints a table, or with `--json` what a later run can be compared with. */
async function main(): Promise<void> {
  const comparisons = [...(await benchReading()), ...(await benchScraping())];
  const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node.js ${process.version}`;
  const text = process.argv.includes('--json')
    ? JSON.stringify({ machine, comparisons }, undefined, 2)
    : [machine, '', ...table(comparisons)].join('\n');
  process.stdout.write(`${text}\n`);
}

function table(comparisons: readonly Comparison[]): string[] {
  const rows = comparisons.map(({ name, reference, unit, value, referenceValue, ratio }) => [
    name,
    `${value.toFixed(1)} ${unit}`,
    `${reference}: ${referenceValue.toFixed(1)} ${unit}`,
    `${ratio.toFixed(1)} ×`,
  ]);
  return [['what', 'measured', 'compared with', 'better by'], ['---', '---', '---', '---'], ...rows].map(
    (cells) => `| ${cells.join(' | ')} |`,
  );
}

await main();
