import { CATALOGUE } from '../../metrics/catalogue/catalogue.ts';
import type { Snapshot } from '../../tally/snapshot.ts';

/** A listing by server, and its tasks that people look for first. */
export type ListingBreakdown = ReturnType<typeof breakDownListing>;

/**
 * Breaks the listing of a snapshot down by server: those with the most tasks that are stalled or without input first, then
 * those with the most tasks.
 */
export function breakDownListing({ listing, notableTasks }: Snapshot) {
  const tasks = sumByServer(listing, 'tasks');
  const users = sumByServer(listing, 'serverOnlineUsers');
  const stalledTasks = sumByServer(listing, 'tasksStalled');
  const tasksWithoutInput = sumByServer(listing, 'tasksWithoutInput');
  const connections = sumByServer(listing, 'httpConnections');
  const lastSeenSeconds = sumByServer(listing, 'serverLastSeen');
  const servers = [...new Set([...tasks.keys(), ...users.keys()])].map((vsId) => {
    const seenSeconds = lastSeenSeconds.get(vsId);
    return {
      vsId,
      users: users.get(vsId) ?? 0,
      tasks: tasks.get(vsId) ?? 0,
      stalledTasks: stalledTasks.get(vsId) ?? 0,
      tasksWithoutInput: tasksWithoutInput.get(vsId) ?? 0,
      connections: connections.get(vsId) ?? 0,
      /** Milliseconds since the Unix epoch. */
      lastSeenMs: seenSeconds === undefined ? undefined : seenSeconds * 1000,
    };
  });
  const countProblems = (server: (typeof servers)[number]): number =>
    server.stalledTasks + server.tasksWithoutInput;
  const sorted = servers.toSorted(
    (a, b) => countProblems(b) - countProblems(a) || b.tasks - a.tasks || (a.vsId < b.vsId ? -1 : 1),
  );
  return { ...notableTasks, servers: sorted };
}

type ServerFamily =
  'tasks' | 'serverOnlineUsers' | 'tasksStalled' | 'tasksWithoutInput' | 'httpConnections' | 'serverLastSeen';

function sumByServer(
  listing: Pick<Snapshot['listing'], ServerFamily>,
  family: ServerFamily,
): ReadonlyMap<string, number> {
  const samples = listing[family];
  const names: readonly string[] = CATALOGUE[family].labels;
  // Label sets are without the service code.
  const labelIndex = names.indexOf('vs_id') - 1;
  const sums = new Map<string, number>();
  for (const [index, labels] of samples.labelSets.entries()) {
    const vsId = labels[labelIndex] ?? '';
    sums.set(vsId, (sums.get(vsId) ?? 0) + (samples.values[index] ?? 0));
  }
  return sums;
}
