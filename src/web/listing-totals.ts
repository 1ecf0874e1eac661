import { sumColumn } from '../listing/rows.ts';
import type { ListingRates } from '../poller/poll-history.ts';
import type { Snapshot } from '../tally/snapshot.ts';

/** Totals of a good listing that the pages show. */
export interface ListingTotals
  extends
    Pick<Snapshot, 'users' | 'tasks' | 'rejected' | 'tasksWithoutAccount'>,
    Pick<ListingRates, 'ingress' | 'egress'> {
  /** Accounts whose byte count waits until the next listings confirm it. */
  readonly byteCountsWaiting: number;
  readonly stalledTasks: number;
  readonly tasksWithoutInput: number;
  readonly tasksWithProgress: number;
  readonly connections: number;
}

export function sumListing(snapshot: Snapshot, rates: ListingRates | undefined): ListingTotals {
  const { users, tasks, rejected, tasksWithoutAccount, rows } = snapshot;
  const { accounts, outputs, taskServers, waiting } = rows;
  return {
    users,
    tasks,
    rejected,
    tasksWithoutAccount,
    byteCountsWaiting: sumColumn(waiting.columns.byteCountsWaiting),
    stalledTasks: sumColumn(accounts.columns.tasksStalled),
    tasksWithoutInput: sumColumn(accounts.columns.tasksWithoutInput),
    tasksWithProgress: sumColumn(taskServers.columns.tasksWithProgress),
    connections: sumColumn(outputs.columns.httpConnections),
    ingress: rates?.ingress,
    egress: rates?.egress,
  };
}
