import type { Samples } from '../metrics/family.ts';
import { Points } from '../metrics/points.ts';
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

/** At each poll of each code: of points in columns, no samples are made for it. */
function sumOf(samples: Samples): number {
  let sum = 0;
  if (samples instanceof Points) for (const value of samples.values) sum += value;
  else for (const sample of samples) if ('value' in sample) sum += sample.value;
  return sum;
}
