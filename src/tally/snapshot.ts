import type { PlainSample, Samples } from '../metrics/family.ts';
import type { Points } from '../metrics/points.ts';
import type { Instant } from './instant.ts';
import { LEDGER_COUNTERS, type LedgerCounter } from './ledger.ts';
import { LISTING_GAUGES, type ListingGauge } from './listing-tally.ts';
import { TASK_FAMILIES, type TaskFamily } from './task-details.ts';

/** Catalogue keys of the families that describe the last good listing: they vanish when it has grown stale. */
export const LISTING_FAMILIES = [
  ...LISTING_GAUGES,
  'servers',
  'serverLastSeen',
  'foldedLabelSets',
  ...TASK_FAMILIES,
] as const;

/** Catalogue keys of the families that accumulate between listings: they stay. */
export const COUNTER_FAMILIES = [...LEDGER_COUNTERS, 'taskLifetime'] as const;

export type ListingFamily = (typeof LISTING_FAMILIES)[number];
export type CounterFamilyKey = (typeof COUNTER_FAMILIES)[number];

/** All that is exposed of one service code after a good listing. Never changes once made. */
export interface Snapshot {
  readonly at: Instant;
  readonly users: number;
  readonly tasks: number;
  /** The families per task only where single tasks are exposed. */
  readonly listing: Readonly<Record<ListingGauge | 'serverLastSeen', Points>> &
    Readonly<Record<'servers' | 'foldedLabelSets', readonly PlainSample[]>> &
    Readonly<Partial<Record<TaskFamily, Samples>>>;
  readonly counters: Readonly<Record<LedgerCounter, Points>> & { readonly taskLifetime: Samples };
}
