import { CATALOGUE } from '../../metrics/catalogue/catalogue.ts';
import type { FamilySpec } from '../../metrics/catalogue/family.ts';
import type { SampleColumns } from '../../metrics/catalogue/sample-columns.ts';
import type { NotableTasks } from '../../tally/notable-tasks.ts';
import type { ByteCounters, Snapshot } from '../../tally/snapshot.ts';

/** Totals of one server. */
export interface ServerStatus {
  readonly vsId: string;
  readonly users: number;
  readonly tasks: number;
  readonly stalledTasks: number;
  readonly tasksWithoutInput: number;
  readonly connections: number;
  /** Bytes per second since the previous good listing; `undefined` if unknown. */
  readonly ingress: number | undefined;
  readonly egress: number | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly lastSeenMs: number | undefined;
}

/** A listing by server, and its tasks that people look for first. */
export interface ListingBreakdown extends NotableTasks {
  /** Those with the most tasks that are stalled or without input first, then those with the most tasks. */
  readonly servers: readonly ServerStatus[];
}

/**
 * Breaks the listing of a snapshot down by server.
 *
 * @param previousBytes - the byte counters to compute rates from; without them, rates are unknown
 */
export function breakDownListing(
  { at, counters, listing, notableTasks }: Snapshot,
  previousBytes: ByteCounters | undefined,
): ListingBreakdown {
  const ingress = computeRates({ at, ...counters }, previousBytes, 'inputBytes');
  const egress = computeRates({ at, ...counters }, previousBytes, 'httpOutputBytes');
  const tasks = sumByServer(listing.tasks, CATALOGUE.tasks);
  const users = sumByServer(listing.serverOnlineUsers, CATALOGUE.serverOnlineUsers);
  const stalledTasks = sumByServer(listing.tasksStalled, CATALOGUE.tasksStalled);
  const tasksWithoutInput = sumByServer(listing.tasksWithoutInput, CATALOGUE.tasksWithoutInput);
  const connections = sumByServer(listing.httpConnections, CATALOGUE.httpConnections);
  const lastSeenSeconds = sumByServer(listing.serverLastSeen, CATALOGUE.serverLastSeen);
  const servers = [...new Set([...tasks.keys(), ...users.keys()])].map((vsId): ServerStatus => {
    const seenSeconds = lastSeenSeconds.get(vsId);
    return {
      vsId,
      users: users.get(vsId) ?? 0,
      tasks: tasks.get(vsId) ?? 0,
      stalledTasks: stalledTasks.get(vsId) ?? 0,
      tasksWithoutInput: tasksWithoutInput.get(vsId) ?? 0,
      connections: connections.get(vsId) ?? 0,
      ingress: ingress.get(vsId),
      egress: egress.get(vsId),
      lastSeenMs: seenSeconds === undefined ? undefined : seenSeconds * 1000,
    };
  });
  const countProblems = (server: ServerStatus): number => server.stalledTasks + server.tasksWithoutInput;
  return {
    ...notableTasks,
    servers: servers.toSorted(
      (a, b) => countProblems(b) - countProblems(a) || b.tasks - a.tasks || (a.vsId < b.vsId ? -1 : 1),
    ),
  };
}

function sumByServer(samples: SampleColumns, { labels: names }: FamilySpec): ReadonlyMap<string, number> {
  // Label sets are without the service code.
  const labelIndex = names.indexOf('vs_id') - 1;
  const sums = new Map<string, number>();
  for (const [index, labels] of samples.labelSets.entries()) {
    const vsId = labels[labelIndex] ?? '';
    sums.set(vsId, (sums.get(vsId) ?? 0) + (samples.totals[index] ?? 0));
  }
  return sums;
}

/** Bytes per second by server; without those whose sum decreased, because idle label sets were evicted. */
function computeRates(
  counters: ByteCounters,
  previous: ByteCounters | undefined,
  family: 'inputBytes' | 'httpOutputBytes',
): ReadonlyMap<string, number> {
  if (previous === undefined) return new Map();
  const seconds = (counters.at.monotonicMs - previous.at.monotonicMs) / 1000;
  const before = sumByServer(previous[family], CATALOGUE[family]);
  const gains = [...sumByServer(counters[family], CATALOGUE[family])].map(([vsId, sum]): [string, number] => [
    vsId,
    sum - (before.get(vsId) ?? 0),
  ]);
  return new Map(
    gains.filter(([, bytes]) => bytes >= 0 && seconds > 0).map(([vsId, bytes]) => [vsId, bytes / seconds]),
  );
}
