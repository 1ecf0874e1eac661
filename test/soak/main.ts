import { parseArgs } from 'node:util';
import { soak, type SoakReport } from './soak.ts';

const formatMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function formatSummary(report: SoakReport): string {
  const { scrapes, resourceUsage, failures } = report;
  const reasons = Object.entries(failures).map(([reason, count]) => `${count} ${reason}`);
  return [
    `seed               ${report.seed}`,
    `minutes            ${report.minutes}`,
    `faults survived    ${report.injectionCount}, of ${report.faultKindCount} kinds`,
    `other events       ${report.eventCount}, of resets, merges, tags and file names; ${report.killCount} kills`,
    `stalls             ${report.stallCount} times in which this machine was too busy for deadlines`,
    `polls              ${report.polls}, none missed; failed by intent: ${reasons.join(', ')}`,
    `log                ${report.logLines} lines above debug`,
    `scrapes            ${scrapes.text} text, ${scrapes.openmetrics} OpenMetrics, ${scrapes.pages} pages, ${scrapes.abandoned} abandoned`,
    `bytes accounted    ${report.accountedBytes}`,
    `difference         ${report.differenceBytes}`,
    `heap, low points   ${formatMegabytes(resourceUsage.earlyMinHeapBytes)} in the second third, ${formatMegabytes(resourceUsage.lateMinHeapBytes)} in the last`,
    `descriptors, most  ${resourceUsage.earlyMaxDescriptors} in the second third, ${resourceUsage.lateMaxDescriptors} in the last`,
    ...report.problems.map((problem) => `problem            ${problem}`),
    report.problems.length === 0 ? 'All held.' : 'Not all held.',
    '',
  ].join('\n');
}

/** `main.js <minutes> [--seed=n]` */
async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string' } },
  });
  const minutes = Number(positionals[0] ?? '1');
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
  if (!(minutes > 0) || !Number.isSafeInteger(seed)) {
    process.stderr.write(
      'Expected minutes, and a seed that is an integer: npm run test:soak -- 10 --seed=1\n',
    );
    return 2;
  }
  process.stdout.write(`Soaking for ${minutes} minutes, with seed ${seed}\n`);
  const report = await soak({ minutes, seed });
  process.stdout.write(formatSummary(report));
  return report.problems.length === 0 ? 0 : 1;
}

process.exitCode = await main();
