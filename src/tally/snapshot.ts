import type { HistogramSample } from '../families/family.ts';
import type {
  ExpectedGroupName,
  LimitedGroupName,
  ListedGroupName,
  TaskGroupName,
  WholeGroupName,
} from '../listing/label-groups.ts';
import type { RejectedEntry } from '../listing/listing.ts';
import type { RowsOf } from '../listing/rows.ts';
import type { StoppedDelivery } from './deliveries.ts';
import type { ExpectedTask } from './expectations.ts';
import type { Instant } from '../runtime/instant.ts';
import type { NotableTasks } from './notable-tasks.ts';

export interface Counts {
  /** Those of tasks are present only if per-task families are on. */
  readonly rows: RowsOf<LimitedGroupName | ExpectedGroupName> & Partial<RowsOf<TaskGroupName>>;
  readonly lifetimes: readonly HistogramSample[];
}

/** What a listing had that is not as it should be. */
export type ListingProblems = RowsOf<ListedGroupName | 'directions'>;

/** Everything that is exposed of one service code after a good listing. Immutable. */
export interface Snapshot extends Counts {
  readonly at: Instant;
  readonly users: number;
  readonly tasks: number;
  readonly rejected: { readonly count: number; readonly first: RejectedEntry | undefined };
  readonly tasksWithoutAccount: number;
  readonly longSilentTasks: number;
  readonly notableTasks: NotableTasks;
  readonly stoppedDeliveries: readonly StoppedDelivery[];
  /** The names that were expected when the listing was taken. */
  readonly expectedTasks: readonly ExpectedTask[];
  readonly rows: Counts['rows'] & RowsOf<WholeGroupName>;
}
