/* The metric families that a tally fills, as keys of the catalogue. */

/** Gauge families that are sums over the records of one listing. */
export const LISTING_GAUGES = [
  'onlineUsers',
  'serverOnlineUsers',
  'tasks',
  'tasksWithProgress',
  'tasksMerging',
  'tasksStalled',
  'tasksWithoutInput',
  'fileTasksStalled',
  'tasksByHttpConnections',
  'inputs',
  'inputClients',
  'outputs',
  'outputRenditions',
  'outputTags',
  'httpConnections',
  'renditionHttpConnections',
  'outputsUnwatched',
  'streams',
  'streamCodecs',
  'streamBitRate',
] as const;

export type ListingGauge = (typeof LISTING_GAUGES)[number];

/** Counter families that accumulate between listings. State files hold these keys. */
export const LEDGER_COUNTERS = [
  'inputBytes',
  'protocolInputBytes',
  'httpOutputBytes',
  'renditionHttpOutputBytes',
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

/** Families per task. */
export const TASK_FAMILIES = [
  'taskInfo',
  'taskInputBytes',
  'taskHttpOutputBytes',
  'taskHttpConnections',
  'taskStalled',
  'taskProgress',
  'taskFirstSeen',
] as const;

export type TaskFamily = (typeof TASK_FAMILIES)[number];

/** Families that describe the last good listing: they disappear when it is stale. */
export const LISTING_FAMILIES = [
  'listingUsers',
  'listingTasks',
  ...LISTING_GAUGES,
  'servers',
  'serverLastSeen',
  'oldestTaskFirstSeen',
  'foldedLabelSets',
  ...TASK_FAMILIES,
] as const;

/** Families that accumulate between listings: they stay. */
export const COUNTER_FAMILIES = [...LEDGER_COUNTERS, 'taskLifetime'] as const;

export type ListingFamily = (typeof LISTING_FAMILIES)[number];
export type CounterFamilyKey = (typeof COUNTER_FAMILIES)[number];
