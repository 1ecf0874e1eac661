import { cpus } from 'node:os';
import { benchCodes } from './codes.ts';
import { benchGrowth } from './growth.ts';
import { benchLedger } from './ledger.ts';
import type { Comparison } from './measure.ts';
import { benchPolling } from './polling.ts';
import { benchReading } from './reading.ts';
import { benchResponsiveness } from './responsiveness.ts';
import { benchScraping } from './scraping.ts';

const PARTS: ReadonlyMap<string, () => Promise<Comparison[]>> = new Map([
  ['reading', () => benchReading()],
  ['polling', () => benchPolling()],
  ['responsiveness', () => benchResponsiveness()],
  ['ledger', () => benchLedger()],
  ['codes', () => benchCodes()],
  ['growth', () => benchGrowth()],
  ['scraping', () => benchScraping()],
]);

/**
 * Runs all parts, or those that the arguments name. Prints a table, or with `--json` what a later run can be compared
 * with.
 */
async function main(args: readonly string[]): Promise<void> {
  const names = args.filter((arg) => arg !== '--json');
  const unknown = names.find((name) => !PARTS.has(name));
  if (unknown !== undefined) {
    process.stderr.write(`Expected one of ${[...PARTS.keys()].join(', ')}, found ${unknown}\n`);
    process.exitCode = 2;
    return;
  }
  const comparisons: Comparison[] = [];
  for (const [name, bench] of PARTS) {
    if (names.length === 0 || names.includes(name)) comparisons.push(...(await bench()));
  }
  const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node.js ${process.version}`;
  const text = args.includes('--json')
    ? JSON.stringify({ machine, comparisons }, undefined, 2)
    : [machine, '', ...table(comparisons)].join('\n');
  process.stdout.write(`${text}\n`);
}

function table(comparisons: readonly Comparison[]): string[] {
  return [
    ['what', 'measured', 'compared with', 'comes to', 'goal', 'met'],
    ['---', '---', '---', '---', '---', '---'],
    ...comparisons.map(cellsOf),
  ].map((cells) => `| ${cells.join(' | ')} |`);
}

function cellsOf(comparison: Comparison): string[] {
  const { name, unit, value, reference, referenceValue, figure, figureUnit, direction, goal, isMet } =
    comparison;
  return [
    name,
    show(value, unit),
    reference === undefined || referenceValue === undefined
      ? '–'
      : `${reference}: ${show(referenceValue, unit)}`,
    show(figure, figureUnit),
    goal === undefined ? '–' : `${direction} ${show(goal, figureUnit)}`,
    isMet === undefined ? '–' : isMet ? 'yes' : 'no',
  ];
}

/** With one digit behind the point; with two, where it would be the only one. */
function show(value: number, unit: string): string {
  return `${value.toFixed(Math.abs(value) < 1 ? 2 : 1)} ${unit}`;
}

await main(process.argv.slice(2));
