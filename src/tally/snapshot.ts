import type { PlainSample, Samples } from '../metrics/catalogue/family.ts';
import type { SampleColumns } from '../metrics/catalogue/sample-columns.ts';
import type { LedgerCounter, ListingGauge, TaskCounter, TaskGauge } from './family-keys.ts';
import type { Instant } from './instant.ts';
import type { ForeignCount, InvalidFieldCount, RejectedEntry, SurplusCount } from '../listing/listing.ts';
import type { ExpectedTask } from './expectations.ts';
import type { NotableTasks } from './notable-tasks.ts';

/** Everything that is exposed of one service code after a good listing. Immutable. */
export interface Snapshot {
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
  /** The families per task are present only if per-task families are on. */
  readonly listing: Readonly<Record<ListingGauge | 'serverLastSeen' | 'oldestTaskFirstSeen', SampleColumns>> &
    Readonly<
      Record<'listingUsers' | 'listingTasks' | 'servers' | 'foldedLabelSets', readonly PlainSample[]>
    > &
    Readonly<Partial<Record<TaskGauge, SampleColumns>>>;
  readonly counters: Readonly<Record<LedgerCounter, SampleColumns>> &
    Readonly<Partial<Record<TaskCounter, SampleColumns>>> & { readonly taskLifetime: Samples };
}
