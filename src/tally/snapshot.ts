import type { HistogramSample } from '../metrics/catalogue/family.ts';
import type {
  CountedGroupName,
  RecordGroupName,
  TaskGroupName,
  WholeGroupName,
} from '../listing/label-groups.ts';
import type { ForeignCount, InvalidFieldCount, RejectedEntry, SurplusCount } from '../listing/listing.ts';
import type { RowsOf } from '../listing/rows.ts';
import type { ExpectedTask } from './expectations.ts';
import type { Instant } from './instant.ts';
import type { NotableTasks } from './notable-tasks.ts';

/** Label groups that the limit of label sets bounds. */
export type LimitedGroupName = RecordGroupName | CountedGroupName;

/** What a tally has counted, in this process or in an earlier one. */
export interface Counts {
  /** Those of tasks are present only if per-task families are on. */
  readonly rows: RowsOf<LimitedGroupName> & Partial<RowsOf<TaskGroupName>>;
  readonly lifetimes: readonly HistogramSample[];
}

/** Everything that is exposed of one service code after a good listing. Immutable. */
export interface Snapshot extends Counts {
  readonly at: Instant;
  readonly users: number;
  readonly tasks: number;
  /** Byte counts of this listing that wait for confirmation or cannot have begun so high, by direction. */
  readonly implausibleGains: Readonly<Record<'input' | 'http_output', number>>;
  readonly rejected: { readonly count: number; readonly first: RejectedEntry | undefined };
  readonly tasksWithoutAccount: number;
  readonly invalidFields: readonly InvalidFieldCount[];
  readonly foreignRecords: readonly ForeignCount[];
  readonly notableTasks: NotableTasks;
  /** The names that were expected when the listing was taken. */
  readonly expectedTasks: readonly ExpectedTask[];
  readonly surplus: readonly SurplusCount[];
  readonly rows: Counts['rows'] & RowsOf<WholeGroupName>;
}
