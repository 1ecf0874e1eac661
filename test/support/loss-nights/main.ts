import { parseArgs } from 'node:util';
import type { Snapshot } from '../../../src/tally/snapshot.ts';
import { imagineLosses, NIGHT_SECONDS, type LossNight } from './imagine.ts';
import { judgeLosses, type LossListing } from './oracle.ts';
import { CodeProcess } from './process.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    nights: { type: 'string', default: '100' },
    verbose: { type: 'boolean', default: false },
  },
});

/** Runs a night through the real tally: what it exposes with each good listing. */
function runNight({ code, isUp, hasState }: LossNight): readonly LossListing[] {
  const process_ = new CodeProcess(code, hasState);
  const listings: LossListing[] = [];
  let [startedAt, wasUp, ofProcess] = [0, true, 0];
  for (let second = 0; second < NIGHT_SECONDS; second += 5) {
    if (isUp.at(second) && !wasUp) {
      process_.restart(second);
      startedAt = second;
      if (!hasState) ofProcess = 0;
    }
    wasUp = isUp.at(second);
    if (!wasUp || (second - startedAt) % code.intervalSeconds !== 0 || !code.answers.at(second)) continue;
    ofProcess += 1;
    listings.push({ second, ofProcess, ...readLosses(process_.poll(second)) });
  }
  return listings;
}

function readLosses({ rows: { losses, serverLosses, deliveryStops } }: Snapshot) {
  const { tasksBeforeLoss, usersBeforeLoss, tasksBeforeIngestStop } = losses.columns;
  const byServer = (
    { labelSets }: { readonly labelSets: readonly (readonly string[])[] },
    numbers: readonly number[],
  ) => new Map(labelSets.map(([vsId = ''], row) => [vsId, numbers[row] ?? 0]));
  return {
    tasks: tasksBeforeLoss[0] ?? Number.NaN,
    users: usersBeforeLoss[0] ?? Number.NaN,
    ingest: tasksBeforeIngestStop[0] ?? Number.NaN,
    servers: byServer(serverLosses, serverLosses.columns.serverTasksBeforeLoss),
    deliveries: byServer(deliveryStops, deliveryStops.columns.connectionsBeforeStop),
  };
}

const first = Number(values.seed);
const kinds = new Map<string, number[]>();
const begun = new Map<string, number>();
const startedMs = performance.now();
for (let seed = first; seed < first + Number(values.nights); seed += 1) {
  const night = imagineLosses(seed);
  const listings = runNight(night);
  for (const fact of ['tasks', 'users', 'ingest'] as const)
    if (listings.some((one) => one[fact] > 0)) begun.set(fact, (begun.get(fact) ?? 0) + 1);
  for (const fact of ['servers', 'deliveries'] as const)
    if (listings.some((one) => one[fact].size > 0)) begun.set(fact, (begun.get(fact) ?? 0) + 1);
  const violations = judgeLosses(night, listings);
  for (const { fact, clause } of violations.slice(0, 1)) {
    const kind = `${clause} ${fact.split(' ')[0]}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), seed]);
  }
  if (values.verbose && violations.length > 0) {
    process.stdout.write(`seed ${seed}: ${night.script.join('; ')}\n`);
    for (const { fact, clause, second, reason } of violations.slice(0, 4))
      process.stdout.write(`  ${clause} ${fact} at ${second}: ${reason}\n`);
  }
}
for (const [kind, seeds] of kinds)
  process.stdout.write(`${kind}: ${seeds.length} nights (${seeds.slice(0, 8).join(', ')})\n`);
const seconds = (performance.now() - startedMs) / 1000;
process.stdout.write(`nights with a loss told: ${JSON.stringify(Object.fromEntries(begun))}\n`);
process.stdout.write(
  `${values.nights} nights, ${[...kinds.values()].flat().length} with a violation, ${(Number(values.nights) / seconds).toFixed(1)} a second\n`,
);
