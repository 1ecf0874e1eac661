import { LEDGER_SUMS, LISTING_SUMS, type ListingSum } from '../listing/families.ts';

/* The metric families that a tally fills, as keys of the catalogue. */

/** Counter families whose increases are sums of a listing's families. */
type OutputCounter = (typeof LEDGER_SUMS)[number];

export function isOutputCounter(key: string): key is OutputCounter {
  return LEDGER_SUMS.some((counter) => counter === key);
}

/** Gauge families that only accounts tell. */
export const LEDGER_GAUGES = ['tasksStalled', 'tasksWithoutInput', 'fileTasksStalled'] as const;

export type LedgerGauge = (typeof LEDGER_GAUGES)[number];

/** Gauge families that are sums over the records of one listing. */
type SumGauge = Exclude<ListingSum, OutputCounter>;

export type ListingGauge = SumGauge | LedgerGauge;

const isSumGauge = (sum: ListingSum): sum is SumGauge => !isOutputCounter(sum);

export function isLedgerGauge(gauge: ListingGauge): gauge is LedgerGauge {
  return LEDGER_GAUGES.some((other) => other === gauge);
}

export const LISTING_GAUGES: readonly ListingGauge[] = [...LISTING_SUMS.filter(isSumGauge), ...LEDGER_GAUGES];

/** Counter families that accumulate between listings. State files hold these keys. */
export const LEDGER_COUNTERS = [
  'inputBytes',
  'protocolInputBytes',
  ...LEDGER_SUMS,
  'tasksStarted',
  'tasksEnded',
  'taskStalls',
  'byteCountResets',
  'byteCountImplausible',
  'invalidRecords',
  'invalidFields',
  'foreignRecords',
  'listingSurplus',
  'departedTasksEvicted',
] as const;

export type LedgerCounter = (typeof LEDGER_COUNTERS)[number];

/** Counter families per task. They disappear when the last listing is stale. */
export const TASK_COUNTERS = ['taskInputBytes', 'taskHttpOutputBytes'] as const;

/** Gauge and info families per task. */
export const TASK_GAUGES = [
  'taskInfo',
  'taskHttpConnections',
  'taskStalled',
  'taskProgress',
  'taskFirstSeen',
] as const;

export type TaskCounter = (typeof TASK_COUNTERS)[number];
export type TaskGauge = (typeof TASK_GAUGES)[number];

/** Families that describe the last good listing: they disappear when it is stale. */
export const LISTING_FAMILIES = [
  'listingUsers',
  'listingTasks',
  ...LISTING_GAUGES,
  'servers',
  'serverLastSeen',
  'oldestTaskFirstSeen',
  'foldedLabelSets',
  ...TASK_GAUGES,
] as const;

/** Families that accumulate between listings: they stay. */
export const COUNTER_FAMILIES = [...LEDGER_COUNTERS, 'taskLifetime'] as const;

export type ListingFamily = (typeof LISTING_FAMILIES)[number];
export type CounterFamilyKey = (typeof COUNTER_FAMILIES)[number];
