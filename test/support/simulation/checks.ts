import { sumColumn, type Rows } from '../../../src/listing/rows.ts';
import type { Counts, Snapshot } from '../../../src/tally/snapshot.ts';
import type { Audit } from './audit.ts';
import { compareTotals } from './audit.ts';
import type { Listing } from './listings.ts';
import type { Direction } from './world.ts';

/** What the exporter exposes is wrong. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
}

type Totals = Record<Direction, number>;

export function readTotals(counts: Counts | undefined): Totals {
  const { accounts, outputs } = counts?.rows ?? {};
  return {
    input: sumColumn(accounts?.columns.inputBytes ?? []),
    output: sumColumn(outputs?.columns.httpOutputBytes ?? []),
  };
}

/** Counters must equal the truth within the bounds of the audit. */
export function checkTotals(code: string, audit: Audit, counts: Counts | undefined): number {
  const problem = compareTotals(audit, readTotals(counts));
  if (problem !== undefined) throw new SimulationError(`${code}: ${problem}`);
  return 2;
}

/**
 * What a new process has restored is what was written last. It exposes nothing of it before a good listing.
 */
export function checkRestored(code: string, audit: Audit, restored: Counts | undefined): void {
  const isKnown = audit.last !== undefined;
  if (isKnown !== (restored !== undefined))
    throw new SimulationError(`${code}: expected restored counters: ${isKnown}`);
  checkTotals(code, audit, restored);
  if (restored !== undefined) checkRuns(audit, restored);
}

/** Starts, ends and lifetimes equal what the listings show; counters of a new server are at 0. */
export function checkRuns(audit: Audit, { rows: { accounts }, lifetimes: [lifetimes] }: Counts): number {
  for (const family of ['tasksStarted', 'tasksEnded'] as const) {
    const expected = family === 'tasksStarted' ? audit.started : audit.ended;
    for (const [server, count] of readByLabels(accounts, family))
      expectEqual(`${family} of ${server}`, count, expected.get(server) ?? 0);
  }
  expectEqual('lifetimes', lifetimes?.buckets.at(-1), audit.lifetimes.count);
  expectEqual('sum of lifetimes', lifetimes?.sum, audit.lifetimes.seconds);
  const newServers = accounts.newRows?.map((row) => accounts.labelSets[row]?.[0]).toSorted();
  expectEqual('new servers', newServers?.join(' ') ?? '', audit.newServers.toSorted().join(' '));
  return 2 * accounts.labelSets.length + 3;
}

/** Gauges equal the listing. */
export function checkGauges(snapshot: Snapshot, { entries }: Listing, users: number): number {
  const { listing, taskServers } = snapshot.rows;
  expectEqual('xvs_listing_users', listing.columns.listingUsers[0], users);
  expectEqual('xvs_listing_tasks', listing.columns.listingTasks[0], entries.length);
  const tasks = readByLabels(taskServers, 'tasks');
  for (const { server } of entries) tasks.set(server, (tasks.get(server) ?? 0) - 1);
  for (const [server, rest] of tasks) expectEqual(`xvs_tasks of ${server}`, rest, 0);
  return 2 + tasks.size;
}

/** No counter is below what it was, and none is exposed twice. */
export function checkNoFall(before: Snapshot | undefined, after: Snapshot): number {
  let comparisons = 0;
  const [last, next] = [before, after].map((snapshot) => snapshot && readCounters(snapshot));
  for (const [key, now] of Object.entries(next ?? {}))
    for (const [labels, value] of last?.[key] ?? []) {
      comparisons += 1;
      const total = now.get(labels) ?? -1;
      if (total < value) throw new SimulationError(`${key} of ${labels} fell from ${value} to ${total}`);
    }
  return comparisons;
}

function readCounters({
  rows: { accounts, outputs },
}: Snapshot): Readonly<Record<string, Map<string, number>>> {
  return {
    inputBytes: readByLabels(accounts, 'inputBytes'),
    tasksStarted: readByLabels(accounts, 'tasksStarted'),
    tasksEnded: readByLabels(accounts, 'tasksEnded'),
    httpOutputBytes: readByLabels(outputs, 'httpOutputBytes'),
  };
}

/** The numbers of a column by label set. */
function readByLabels<Family extends string>(
  { labelSets, columns }: Rows<Family>,
  family: Family,
): Map<string, number> {
  const values = new Map(labelSets.map((labels, row) => [labels.join(' '), columns[family][row] ?? 0]));
  if (values.size !== labelSets.length) throw new SimulationError(`${family}: a label set twice`);
  return values;
}

function expectEqual<Value extends number | string>(
  what: string,
  actual: Value | undefined,
  expected: Value,
): void {
  if (actual !== expected) throw new SimulationError(`${what}: expected ${expected}, found ${actual}`);
}
