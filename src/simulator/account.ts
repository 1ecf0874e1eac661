import type { SimulatedTask } from './tasks.ts';
import type { SimulatedUser } from './users.ts';

/** The totals of one listing, by the service's own field names. */
export interface Account {
  /** Users by client version and device type, only those that occur. */
  readonly users: readonly {
    readonly client_version: string;
    readonly device_type: string;
    readonly count: number;
  }[];
  /** Tasks by `vs_id`. */
  readonly tasks: Readonly<Record<string, number>>;
  /** HTTP connections by output format. */
  readonly connections: Readonly<Record<string, number>>;
}

/** Adds up the users and tasks of one listing, keeping none of them. */
export function createAccount(users: Iterable<SimulatedUser>, tasks: Iterable<SimulatedTask>): Account {
  const tasksByServer: Record<string, number> = {};
  const connections: Record<string, number> = {};
  for (const task of tasks) {
    add(tasksByServer, task.vs_id, 1);
    for (const output of task.outputs) add(connections, output.format, output.http_connections_num);
  }
  return { users: countUsers(users), tasks: tasksByServer, connections };
}

function countUsers(users: Iterable<SimulatedUser>): Account['users'] {
  const counts: Record<string, number> = {};
  for (const user of users) add(counts, `${user.client_version}/${user.device_type}`, 1);
  return Object.entries(counts).map(([key, count]) => {
    const [client_version = '', device_type = ''] = key.split('/');
    return { client_version, device_type, count };
  });
}

function add(totals: Record<string, number>, key: string, amount: number): void {
  totals[key] = (totals[key] ?? 0) + amount;
}
