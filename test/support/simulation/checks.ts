import type { CodeState } from '../../../src/poller/store.ts';
import type { SampleColumns } from '../../../src/metrics/catalogue/sample-columns.ts';
import type { Snapshot } from '../../../src/tally/snapshot.ts';
import type { Audit } from './audit.ts';
import { compareTotals } from './audit.ts';
import type { Listing } from './listings.ts';
import type { Direction } from './world.ts';

/** What the exporter exposes is wrong. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
}

type Totals = Record<Direction, number>;

export function readTotals({ snapshot, restoredCounters }: CodeState): Totals {
  const counters = snapshot?.counters ?? restoredCounters;
  if (counters === undefined) return { input: 0, output: 0 };
  return { input: sum(counters.inputBytes.values), output: sum(counters.httpOutputBytes.values) };
}

/** Counters must equal the truth within the bounds of the audit. */
export function checkTotals(code: string, audit: Audit, state: CodeState): number {
  const problem = compareTotals(audit, readTotals(state));
  if (problem !== undefined) throw new SimulationError(`${code}: ${problem}`);
  return 2;
}

/** What a new process exposes before its first poll is what was written last. */
export function checkRestored(state: CodeState, audit: Audit): void {
  if (audit.isKnown !== (state.restoredCounters !== undefined))
    throw new SimulationError(`${state.serviceCode}: expected restored counters: ${audit.isKnown}`);
  checkTotals(state.serviceCode, audit, state);
}

/** Gauges equal the listing. */
export function checkGauges(snapshot: Snapshot, { entries, listed }: Listing, users: number): number {
  const { listing } = snapshot;
  expectEqual('xvs_listing_users', listing.listingUsers[0]?.value, users);
  expectEqual('xvs_listing_tasks', listing.listingTasks[0]?.value, entries.length);
  const tasks = readByLabels(listing.tasks);
  // The last of a map is the first of the listing.
  const servers = new Map(listed.toReversed().map(({ task, server }) => [task, server]));
  for (const server of servers.values()) tasks.set(server, (tasks.get(server) ?? 0) - 1);
  for (const [server, rest] of tasks) expectEqual(`xvs_tasks of ${server}`, rest, 0);
  return 2 + tasks.size;
}

/** No counter is below what it was, and none is exposed twice. */
export function checkNoFall(before: Snapshot | undefined, after: Snapshot): number {
  let comparisons = 0;
  for (const key of ['inputBytes', 'httpOutputBytes', 'tasksStarted', 'tasksEnded'] as const) {
    const now = readByLabels(after.counters[key]);
    if (now.size !== after.counters[key].length) throw new SimulationError(`${key}: a label set twice`);
    if (before === undefined) continue;
    for (const [labels, value] of readByLabels(before.counters[key])) {
      comparisons += 1;
      const total = now.get(labels) ?? -1;
      if (total < value) throw new SimulationError(`${key} of ${labels} fell from ${value} to ${total}`);
    }
  }
  return comparisons;
}

function readByLabels({ labelSets, values }: SampleColumns): Map<string, number> {
  return new Map(labelSets.map((labels, index) => [labels.join(' '), values[index] ?? 0]));
}

function expectEqual(what: string, actual: number | undefined, expected: number): void {
  if (actual !== expected) throw new SimulationError(`${what}: expected ${expected}, found ${actual}`);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
