import type { Samples } from './metrics/family.ts';
import type { Snapshot } from './tally/snapshot.ts';
import type { ListingBreakdown, ServerStatus, Share } from './web/view.ts';

/** What a snapshot says of a service code, by server, format, client and protocol. */
export function breakDown({ listing }: Snapshot): ListingBreakdown {
  return {
    servers: serversOf(listing),
    outputsByFormat: shares(listing.outputs, FORMAT),
    connectionsByFormat: shares(listing.httpConnections, FORMAT),
    usersByClientVersion: shares(listing.onlineUsers, CLIENT_VERSION),
    usersByDeviceType: shares(listing.onlineUsers, DEVICE_TYPE),
    inputsByProtocol: shares(listing.inputs, PROTOCOL),
  };
}

// Where the labels stand in the families of the catalogue; the service code is the first.
const SERVER = 1;
const FORMAT = 2;
const PROTOCOL = 2;
const CLIENT_VERSION = 1;
const DEVICE_TYPE = 2;

/** Sums over one label, the largest first. */
function shares(samples: Samples, label: number): readonly Share[] {
  const sums = [...sumsBy(samples, label)].map(([name, value]) => ({ name, value }));
  return sums.toSorted((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
}

function sumsBy(samples: Samples, label: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const sample of samples) {
    const name = sample.labels[label] ?? '';
    if ('value' in sample) sums.set(name, (sums.get(name) ?? 0) + sample.value);
  }
  return sums;
}

/** Those with stalled tasks first, then the fullest. */
function serversOf(listing: Snapshot['listing']): readonly ServerStatus[] {
  const tasks = sumsBy(listing.tasks, SERVER);
  const users = sumsBy(listing.serverOnlineUsers, SERVER);
  const stalled = sumsBy(listing.tasksStalled, SERVER);
  const connections = sumsBy(listing.httpConnections, SERVER);
  const lastSeen = sumsBy(listing.serverLastSeen, SERVER);
  const servers = [...new Set([...tasks.keys(), ...users.keys()])].map((vsId): ServerStatus => {
    const seenSeconds = lastSeen.get(vsId);
    return {
      vsId,
      users: users.get(vsId) ?? 0,
      tasks: tasks.get(vsId) ?? 0,
      stalledTasks: stalled.get(vsId) ?? 0,
      connections: connections.get(vsId) ?? 0,
      lastSeenMs: seenSeconds === undefined ? undefined : seenSeconds * 1000,
    };
  });
  return servers.toSorted(
    (a, b) => b.stalledTasks - a.stalledTasks || b.tasks - a.tasks || (a.vsId < b.vsId ? -1 : 1),
  );
}
