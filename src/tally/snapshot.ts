import type { PlainSample, Samples } from '../metrics/family.ts';
import type { SampleColumns } from '../metrics/sample-columns.ts';
import type { LedgerCounter, ListingGauge, TaskFamily } from './family-keys.ts';
import type { Instant } from './instant.ts';
import type { ForeignCount, InvalidFieldCount } from './readings.ts';

/** Everything that is exposed of one service code after a good listing. Immutable. */
export interface Snapshot {
  readonly at: Instant;
  readonly users: number;
  readonly tasks: number;
  /** Gains of this listing that were implausible and add nothing, by direction. */
  readonly implausibleGains: Readonly<Record<'input' | 'http_output', number>>;
  readonly invalidFields: readonly InvalidFieldCount[];
  readonly foreignRecords: readonly ForeignCount[];
  /** The families per task are present only if per-task families are on. */
  readonly listing: Readonly<Record<ListingGauge | 'serverLastSeen' | 'oldestTaskFirstSeen', SampleColumns>> &
    Readonly<
      Record<'listingUsers' | 'listingTasks' | 'servers' | 'foldedLabelSets', readonly PlainSample[]>
    > &
    Readonly<Partial<Record<TaskFamily, Samples>>>;
  readonly counters: Readonly<Record<LedgerCounter, SampleColumns>> & { readonly taskLifetime: Samples };
}
