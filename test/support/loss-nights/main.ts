import { isDeepStrictEqual, parseArgs } from 'node:util';
import { plant, PLANTED_FAULTS } from './faults.ts';
import { checkNight } from './oracle.ts';
import { runNight } from './run.ts';
import { imagineLosses } from './script.ts';
import { formatViolations } from './violations.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    nights: { type: 'string', default: '1000' },
    faults: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed);
if (values.faults) {
  findFaults();
  process.exit();
}
const kinds = new Map<string, number[]>();
const startedMs = performance.now();
for (let seed = first; seed < first + Number(values.nights); seed += 1) {
  const night = imagineLosses(seed);
  const violations = checkNight(night, runNight(night));
  for (const kind of new Set(violations.map(({ fact, clause }) => `${clause} ${fact.split(' ')[0]}`)))
    kinds.set(kind, [...(kinds.get(kind) ?? []), seed]);
  if (violations.length > 0) process.stdout.write(`${formatViolations(night, violations)}\n`);
}
for (const [kind, seeds] of kinds)
  process.stdout.write(`${kind}: ${seeds.length} nights (${seeds.slice(0, 8).join(', ')})\n`);
const seconds = (performance.now() - startedMs) / 1000;
process.stdout.write(
  `${values.nights} nights, ${new Set([...kinds.values()].flat()).size} with a violation, ${(Number(values.nights) / seconds).toFixed(1)} a second\n`,
);
if (kinds.size > 0) process.exitCode = 1;

/** Prints the first night that finds each planted fault, for faults.ts. */
function findFaults(): void {
  const sought = new Set(PLANTED_FAULTS);
  for (let seed = first; seed < first + Number(values.nights) && sought.size > 0; seed += 1) {
    const night = imagineLosses(seed);
    const sound = runNight(night);
    if (checkNight(night, sound).length > 0) continue;
    for (const fault of sought) {
      const planted = plant(fault, night, sound);
      if (isDeepStrictEqual(planted, sound) || checkNight(night, planted).length === 0) continue;
      process.stdout.write(`${seed}: ${fault.name}\n`);
      sought.delete(fault);
    }
  }
  for (const { name } of sought) process.stdout.write(`no night: ${name}\n`);
}
