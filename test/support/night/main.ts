import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { deployPath } from '../deploy-files.ts';
import { PLANTED_FAULTS } from './faults.ts';
import { formatReport, runNight, type AlertFiles } from './report.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    nights: { type: 'string', default: '10' },
    rules: { type: 'string', default: deployPath('prometheus/rules/alerts.yml') },
    alertmanager: { type: 'string', default: deployPath('alertmanager/alertmanager.yml') },
    promtool: { type: 'string', default: 'promtool' },
    verbose: { type: 'boolean', default: false },
    // Prints the first night that finds each planted fault, for faults.ts.
    faults: { type: 'boolean', default: false },
  },
});
const files = {
  rules: readFileSync(values.rules, 'utf8'),
  alertmanager: readFileSync(values.alertmanager, 'utf8'),
  promtool: values.promtool,
};
const first = Number(values.seed);
if (values.faults) {
  for (const { name, plant } of PLANTED_FAULTS)
    process.stdout.write(`${(await findNight(plant(files))) ?? 'no night'}: ${name}\n`);
  process.exit();
}
const kinds = new Map<string, Set<number>>();
const residues = new Map<string, Set<number>>();
const count = (table: Map<string, Set<number>>, kind: string, seed: number): void => {
  table.set(kind, (table.get(kind) ?? new Set()).add(seed));
};
for (let seed = first; seed < first + Number(values.nights); seed += 1) {
  const report = await runNight(seed, files);
  if (values.verbose || report.violations.length > 0) process.stdout.write(`${formatReport(report)}\n`);
  for (const { clause, alert, reason } of report.violations)
    count(kinds, `${clause}: ${alert}: ${reason}`, seed);
  for (const residue of report.residues) count(residues, `residue: ${residue}`, seed);
  if (values.verbose)
    for (const [minute, alerts] of report.sent.entries())
      for (const { labels, hiddenBy } of alerts)
        process.stdout.write(
          `    ${minute} ${Object.values(labels).join(' ')}${hiddenBy === undefined ? '' : ' (hidden)'}\n`,
        );
}
for (const [kind, seeds] of [...kinds, ...residues].toSorted(([a], [b]) => a.localeCompare(b)))
  process.stdout.write(`${kind}: ${seeds.size} nights (${[...seeds].slice(0, 8).join(', ')})\n`);
process.stdout.write(
  `${values.nights} nights, ${new Set([...kinds.values()].flatMap((seeds) => [...seeds])).size} with a violation\n`,
);
if (kinds.size > 0) process.exitCode = 1;

/** Finds the first night with a violation. */
async function findNight(changed: AlertFiles): Promise<number | undefined> {
  for (let seed = first; seed < first + Number(values.nights); seed += 1)
    if ((await runNight(seed, changed)).violations.length > 0) return seed;
  return undefined;
}
