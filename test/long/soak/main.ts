import { parseArgs } from 'node:util';
import { soak, type SoakReport } from './soak.ts';

const formatMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function formatSummary(report: SoakReport): string {
  const { scrapes, resourceUsage, failures } = report;
  const reasons = Object.entries(failures).map(([reason, count]) => `${count} ${reason}`);
  return [
    `seed               ${report.seed}`,
    `minutes            ${report.minutes}`,
    `faults injected    ${report.injectionCount}, of ${report.faultKindCount} kinds`,
    `other events       ${report.eventCount} resets and changes of merges; ${report.killCount} kills`,
    `stalls             ${report.stallCount} times this machine was too slow to check deadlines`,
    `polls              ${report.polls}; failed: ${reasons.join(', ')}`,
    `log                ${report.logLines} lines above debug`,
    `scrapes            ${scrapes.text} text, ${scrapes.openmetrics} OpenMetrics, ${scrapes.pages} pages, ${scrapes.abandoned} abandoned`,
    `bytes accounted    ${report.accountedBytes}`,
    `difference         ${report.differenceBytes}`,
    `minimum heap       ${formatMegabytes(resourceUsage.earlyMinHeapBytes)} in the second third, ${formatMegabytes(resourceUsage.lateMinHeapBytes)} in the last`,
    `minimum open fds   ${resourceUsage.earlyMinDescriptors} in the second third, ${resourceUsage.lateMinDescriptors} in the last`,
    ...report.problems.map((problem) => `problem            ${problem}`),
    report.problems.length === 0 ? 'Passed.' : 'Failed.',
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
      'Expected a positive number of minutes and an integer seed: npm run test:soak -- 10 --seed=1\n',
    );
    return 2;
  }
  process.stdout.write(`Soak test: ${minutes} minutes, seed ${seed}\n`);
  const report = await soak({ minutes, seed });
  process.stdout.write(formatSummary(report));
  return report.problems.length === 0 ? 0 : 1;
}

process.exitCode = await main();
