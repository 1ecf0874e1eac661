import type { Points } from '../metrics/points.ts';
import type { Snapshot } from '../tally/snapshot.ts';

/** What one good listing says of a service code as a whole. */
export interface ListingFigures {
  readonly users: number;
  readonly tasks: number;
  readonly stalledTasks: number;
  readonly connections: number;
  /** Sums of the byte counters, since the exporter started. */
  readonly inputBytes: number;
  readonly outputBytes: number;
}

/** The figures of a snapshot, over all its label sets. */
export function figuresOf({ users, tasks, listing, counters }: Snapshot): ListingFigures {
  return {
    users,
    tasks,
    stalledTasks: sumOf(listing.tasksStalled),
    connections: sumOf(listing.httpConnections),
    inputBytes: sumOf(counters.inputBytes),
    outputBytes: sumOf(counters.httpOutputBytes),
  };
}

function sumOf({ values }: Points): number {
  return values.reduce((sum, value) => sum + value, 0);
}
