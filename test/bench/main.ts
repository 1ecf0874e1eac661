import { cpus, loadavg } from 'node:os';
import { benchCapacity } from './capacity.ts';
import { benchCodes } from './codes.ts';
import { benchLedger } from './ledger.ts';
import type { Comparison } from './measure.ts';
import { benchPolling } from './polling.ts';
import { benchReading } from './reading.ts';
import { benchScraping } from './scraping.ts';
import { benchSmall } from './small.ts';
import { formatTable } from './table.ts';

const PARTS: ReadonlyMap<string, () => Promise<Comparison[]>> = new Map([
  ['reading', benchReading],
  ['polling', benchPolling],
  ['ledger', benchLedger],
  ['codes', benchCodes],
  ['scraping', benchScraping],
]);
/** Runs beside the others. */
const SMALL = 'small';
/** Takes an hour: it runs only where it is named. */
const CAPACITY = 'capacity';

/**
 * Runs all parts, or those that the arguments name. Prints a table, or with `--json` the figures of
 * test/bench/results.json.
 */
async function main(args: readonly string[]): Promise<void> {
  const names = args.filter((arg) => arg !== '--json');
  const known = [...PARTS.keys(), SMALL, CAPACITY];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    process.stderr.write(`Expected one of ${known.join(', ')}, found ${unknown}\n`);
    process.exitCode = 2;
    return;
  }
  const machine = describeMachine();
  const isSelected = (name: string): boolean => names.length === 0 || names.includes(name);
  const others = runInTurn([...PARTS].filter(([name]) => isSelected(name)).map(([, bench]) => bench));
  const [small, all] = await Promise.all([isSelected(SMALL) ? benchSmall(others) : [], others]);
  const capacity = names.includes(CAPACITY) ? await benchCapacity() : [];
  const comparisons = [...all, ...small, ...capacity];
  const text = args.includes('--json')
    ? JSON.stringify({ machine, comparisons }, undefined, 2)
    : [machine, '', formatTable(comparisons)].join('\n');
  process.stdout.write(`${text}\n`);
}

async function runInTurn(benches: readonly (() => Promise<Comparison[]>)[]): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const bench of benches) comparisons.push(...(await bench()));
  return comparisons;
}

/** Describes the machine and its load before the run. */
function describeMachine(): string {
  const [load = 0] = loadavg();
  const model = cpus()[0]?.model ?? 'unknown processor';
  return `${model}, ${cpus().length} cores, load average ${load.toFixed(1)} at the start, Node.js ${process.version}`;
}

await main(process.argv.slice(2));
