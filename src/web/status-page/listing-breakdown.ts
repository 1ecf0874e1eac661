import { CATALOGUE } from '../../metrics/catalogue/catalogue.ts';
import type { FamilySpec } from '../../metrics/catalogue/family.ts';
import type { ListingGauge } from '../../tally/family-keys.ts';
import type { NotableTasks } from '../../tally/notable-tasks.ts';
import type { ByteCounters, Snapshot } from '../../tally/snapshot.ts';
import type { SampleColumns } from '../../metrics/catalogue/sample-columns.ts';

/** The sum of one label value. */
export interface NamedCount {
  readonly name: string;
  readonly value: number;
}

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

/** A listing by server, format, client and protocol, as the page of one service code shows it. */
export interface ListingBreakdown extends NotableTasks {
  readonly servers: readonly ServerStatus[];
  readonly outputsByFormat: readonly NamedCount[];
  readonly connectionsByFormat: readonly NamedCount[];
  readonly usersByClientVersion: readonly NamedCount[];
  readonly usersByDeviceType: readonly NamedCount[];
  readonly inputsByProtocol: readonly NamedCount[];
}

type BreakdownFamily = ListingGauge | 'serverLastSeen';
type Listing = Pick<Snapshot['listing'], BreakdownFamily>;

/**
 * Breaks the listing of a snapshot down by server, format, client and protocol.
 *
 * @param previousBytes - the byte counters to compute rates from; without them, rates are unknown
 */
export function breakDownListing(
  snapshot: Snapshot,
  previousBytes: ByteCounters | undefined,
): ListingBreakdown {
  const { listing, notableTasks } = snapshot;
  return {
    ...notableTasks,
    servers: summarizeServers(snapshot, previousBytes),
    outputsByFormat: countByLabel(listing, 'outputs', 'format'),
    connectionsByFormat: countByLabel(listing, 'httpConnections', 'format'),
    usersByClientVersion: countByLabel(listing, 'onlineUsers', 'client_version'),
    usersByDeviceType: countByLabel(listing, 'onlineUsers', 'device_type'),
    inputsByProtocol: countByLabel(listing, 'inputs', 'protocol'),
  };
}

/** The sums of a family by one label, the largest first. */
function countByLabel(listing: Listing, family: BreakdownFamily, label: string): readonly NamedCount[] {
  const counts = [...sumByLabel(listing, family, label)].map(([name, value]) => ({ name, value }));
  return counts.toSorted((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
}

function sumByLabel(listing: Listing, family: BreakdownFamily, label: string): ReadonlyMap<string, number> {
  return sumSamples(listing[family], CATALOGUE[family], label);
}

function sumSamples(samples: SampleColumns, spec: FamilySpec, label: string): ReadonlyMap<string, number> {
  // Label sets are without the service code.
  const labelIndex = spec.labels.indexOf(label) - 1;
  const sums = new Map<string, number>();
  for (const [index, labels] of samples.labelSets.entries()) {
    const name = labels[labelIndex] ?? '';
    sums.set(name, (sums.get(name) ?? 0) + (samples.totals[index] ?? 0));
  }
  return sums;
}

/** The servers with the most tasks that are stalled or without input first, then those with the most tasks. */
function summarizeServers(
  { at, counters, listing }: Snapshot,
  previousBytes: ByteCounters | undefined,
): readonly ServerStatus[] {
  const ingress = computeServerRates({ at, ...counters }, previousBytes, 'inputBytes');
  const egress = computeServerRates({ at, ...counters }, previousBytes, 'httpOutputBytes');
  const tasks = sumByLabel(listing, 'tasks', 'vs_id');
  const users = sumByLabel(listing, 'serverOnlineUsers', 'vs_id');
  const stalledTasks = sumByLabel(listing, 'tasksStalled', 'vs_id');
  const tasksWithoutInput = sumByLabel(listing, 'tasksWithoutInput', 'vs_id');
  const connections = sumByLabel(listing, 'httpConnections', 'vs_id');
  const lastSeenSeconds = sumByLabel(listing, 'serverLastSeen', 'vs_id');
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
  return servers.toSorted(
    (a, b) =>
      b.stalledTasks + b.tasksWithoutInput - a.stalledTasks - a.tasksWithoutInput ||
      b.tasks - a.tasks ||
      (a.vsId < b.vsId ? -1 : 1),
  );
}

/** Bytes per second by server; without those whose sum decreased, because idle label sets were evicted. */
function computeServerRates(
  counters: ByteCounters,
  previous: ByteCounters | undefined,
  family: 'inputBytes' | 'httpOutputBytes',
): ReadonlyMap<string, number> {
  if (previous === undefined) return new Map();
  const seconds = (counters.at.monotonicMs - previous.at.monotonicMs) / 1000;
  const before = sumSamples(previous[family], CATALOGUE[family], 'vs_id');
  const gains = [...sumSamples(counters[family], CATALOGUE[family], 'vs_id')].map(
    ([vsId, sum]): [string, number] => [vsId, sum - (before.get(vsId) ?? 0)],
  );
  return new Map(
    gains.filter(([, bytes]) => bytes >= 0 && seconds > 0).map(([vsId, bytes]) => [vsId, bytes / seconds]),
  );
}
