import { placeOf, type Rows } from '../../listing/rows.ts';
import type { NotableTasks } from '../../tally/notable-tasks.ts';
import type { Snapshot } from '../../tally/snapshot.ts';

export interface ListingBreakdown extends NotableTasks {
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
  /** `undefined` if it has not been seen since the start. */
  readonly lastSeenMs: number | undefined;
}

/** By server: those with the most tasks that are stalled or without input first, then with the most tasks. */
export function breakDownListing({ rows, notableTasks }: Snapshot): ListingBreakdown {
  const { accounts, outputs, serversSeen, taskServers, userServers } = rows;
  const tasks = sumByServer(taskServers, 'tasks');
  const users = sumByServer(userServers, 'serverOnlineUsers');
  const stalledTasks = sumByServer(accounts, 'tasksStalled');
  const tasksWithoutInput = sumByServer(accounts, 'tasksWithoutInput');
  const connections = sumByServer(outputs, 'httpConnections', placeOf('outputs', 'vs_id'));
  const lastSeenSeconds = sumByServer(serversSeen, 'serverLastSeen');
  const servers = [...new Set([...tasks.keys(), ...users.keys()])].map((vsId): ServerTotals => {
    const seenSeconds = lastSeenSeconds.get(vsId);
    return {
      vsId,
      users: users.get(vsId) ?? 0,
      tasks: tasks.get(vsId) ?? 0,
      stalledTasks: stalledTasks.get(vsId) ?? 0,
      tasksWithoutInput: tasksWithoutInput.get(vsId) ?? 0,
      connections: connections.get(vsId) ?? 0,
      lastSeenMs: seenSeconds === undefined ? undefined : seenSeconds * 1000,
    };
  });
  const countProblems = (server: ServerTotals): number => server.stalledTasks + server.tasksWithoutInput;
  const sorted = servers.toSorted(
    (a, b) => countProblems(b) - countProblems(a) || b.tasks - a.tasks || (a.vsId < b.vsId ? -1 : 1),
  );
  return { ...notableTasks, servers: sorted };
}

/** Adds up a column by server; `place` is that of the server in label sets. */
function sumByServer<Family extends string>(
  { labelSets, columns }: Rows<Family>,
  family: Family,
  place = 0,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [row, labels] of labelSets.entries()) {
    const number = columns[family][row] ?? Number.NaN;
    if (Number.isNaN(number)) continue;
    const vsId = labels[place] ?? '';
    sums.set(vsId, (sums.get(vsId) ?? 0) + number);
  }
  return sums;
}
