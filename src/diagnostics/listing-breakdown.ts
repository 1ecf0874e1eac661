import { CATALOGUE } from '../metrics/catalogue.ts';
import type { FamilySpec } from '../metrics/family.ts';
import type { ListingGauge } from '../tally/family-keys.ts';
import type { Snapshot } from '../tally/snapshot.ts';

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
  readonly connections: number;
  /** Milliseconds since the Unix epoch. */
  readonly lastSeenMs: number | undefined;
}

/** A listing by server, format, client and protocol, as the page of one service code shows it. */
export interface ListingBreakdown {
  readonly servers: readonly ServerStatus[];
  readonly outputsByFormat: readonly NamedCount[];
  readonly connectionsByFormat: readonly NamedCount[];
  readonly usersByClientVersion: readonly NamedCount[];
  readonly usersByDeviceType: readonly NamedCount[];
  readonly inputsByProtocol: readonly NamedCount[];
}

type BreakdownFamily = ListingGauge | 'serverLastSeen';
type Listing = Pick<Snapshot['listing'], BreakdownFamily>;

/** Breaks the listing of a snapshot down by server, format, client and protocol. */
export function breakDownListing({ listing }: Snapshot): ListingBreakdown {
  return {
    servers: summarizeServers(listing),
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
  const spec: FamilySpec = CATALOGUE[family];
  const labelIndex = spec.labels.indexOf(label);
  const sums = new Map<string, number>();
  for (const { labels, value } of listing[family]) {
    const name = labels[labelIndex] ?? '';
    sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return sums;
}

/** The servers with the most stalled tasks first, then those with the most tasks. */
function summarizeServers(listing: Listing): readonly ServerStatus[] {
  const tasks = sumByLabel(listing, 'tasks', 'vs_id');
  const users = sumByLabel(listing, 'serverOnlineUsers', 'vs_id');
  const stalledTasks = sumByLabel(listing, 'tasksStalled', 'vs_id');
  const connections = sumByLabel(listing, 'httpConnections', 'vs_id');
  const lastSeenSeconds = sumByLabel(listing, 'serverLastSeen', 'vs_id');
  const servers = [...new Set([...tasks.keys(), ...users.keys()])].map((vsId): ServerStatus => {
    const seenSeconds = lastSeenSeconds.get(vsId);
    return {
      vsId,
      users: users.get(vsId) ?? 0,
      tasks: tasks.get(vsId) ?? 0,
      stalledTasks: stalledTasks.get(vsId) ?? 0,
      connections: connections.get(vsId) ?? 0,
      lastSeenMs: seenSeconds === undefined ? undefined : seenSeconds * 1000,
    };
  });
  return servers.toSorted(
    (a, b) => b.stalledTasks - a.stalledTasks || b.tasks - a.tasks || (a.vsId < b.vsId ? -1 : 1),
  );
}
