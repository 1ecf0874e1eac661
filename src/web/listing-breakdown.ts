import { sumByServer } from '../listing/rows.ts';
import type { ListingRates } from '../poller/poll-history.ts';
import type { TopTasks } from '../tally/top-tasks.ts';
import type { Snapshot } from '../tally/snapshot.ts';

export interface ListingBreakdown extends TopTasks {
  readonly servers: readonly ServerTotals[];
}

/** The tasks and users of one server in the last listing. */
interface ServerTotals {
  readonly vsId: string;
  readonly users: number;
  readonly tasks: number;
  readonly stalledTasks: number;
  readonly tasksWithoutInput: number;
  readonly connections: number;
  /** Bytes per second since the listing before. */
  readonly egress: number | undefined;
  /** `undefined` if it has not been seen since the start. */
  readonly lastSeenMs: number | undefined;
}

/** By server: those with the most tasks that are stalled or without input first, then with the most tasks. */
export function breakDownListing({ rows, topTasks }: Snapshot, rates?: ListingRates): ListingBreakdown {
  const { accounts, outputs, serversSeen, taskServers, userServers } = rows;
  const tasks = sumByServer(taskServers, 'tasks');
  const users = sumByServer(userServers, 'serverOnlineUsers');
  const stalledTasks = sumByServer(accounts, 'tasksStalled');
  const tasksWithoutInput = sumByServer(accounts, 'tasksWithoutInput');
  const connections = sumByServer(outputs, 'httpConnections');
  const lastSeenSeconds = sumByServer(serversSeen, 'serverLastSeen');
  // Label groups fold other servers.
  const sums = [tasks, users, stalledTasks, tasksWithoutInput, connections];
  const servers = [...new Set(sums.flatMap((sum) => [...sum.keys()]))].map((vsId): ServerTotals => {
    const seenSeconds = lastSeenSeconds.get(vsId);
    return {
      vsId,
      users: users.get(vsId) ?? 0,
      tasks: tasks.get(vsId) ?? 0,
      stalledTasks: stalledTasks.get(vsId) ?? 0,
      tasksWithoutInput: tasksWithoutInput.get(vsId) ?? 0,
      connections: connections.get(vsId) ?? 0,
      egress: rates?.serverEgress.get(vsId),
      lastSeenMs: seenSeconds === undefined ? undefined : seenSeconds * 1000,
    };
  });
  const countProblems = (server: ServerTotals): number => server.stalledTasks + server.tasksWithoutInput;
  const sorted = servers.toSorted(
    (a, b) => countProblems(b) - countProblems(a) || b.tasks - a.tasks || (a.vsId < b.vsId ? -1 : 1),
  );
  return { ...topTasks, servers: sorted };
}
