import type { HistogramSample } from '../families/family.ts';
import { recordOf } from '../families/record-of.ts';
import {
  familiesOf,
  type ExpectedGroupName,
  type LimitedGroupName,
  type ListedGroupName,
  type TaskGroupName,
  type WholeGroupName,
} from '../listing/label-groups.ts';
import type { RejectedEntry } from '../listing/listing.ts';
import type { RowsOf } from '../listing/rows.ts';
import type { ExpectedTask } from './expectations.ts';
import type { Instant } from '../runtime/instant.ts';
import type { CodeLosses } from './losses/losses.ts';
import type { TopTasks } from './top-tasks.ts';

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
  readonly topTasks: TopTasks;
  readonly losses: CodeLosses;
  /** The names that were expected when the listing was taken. */
  readonly expectedTasks: readonly ExpectedTask[];
  /** The number of tasks that was expected when the listing was taken. */
  readonly expectedTaskCount: number;
  readonly rows: Counts['rows'] & RowsOf<WholeGroupName>;
}

/** Removes the counters of unexpected names. */
export function hideUnexpected(snapshot: Snapshot, names: readonly string[] = []): Snapshot {
  const { expectedNames } = snapshot.rows;
  const expected = new Set(names);
  const isHidden = expectedNames.labelSets.map(([name = '']) => !expected.has(name));
  if (!isHidden.includes(true)) return snapshot;
  const columns = recordOf(familiesOf('expectedNames'), (family) =>
    expectedNames.columns[family].map((number, row) => (isHidden[row] === true ? Number.NaN : number)),
  );
  return { ...snapshot, rows: { ...snapshot.rows, expectedNames: { ...expectedNames, columns } } };
}
