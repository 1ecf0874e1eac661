import { UNKNOWN } from '../listing/label-values.ts';
import type { ListingSink, ListingTotals } from '../listing/listing-sink.ts';
import type { AccountShare } from './account-budget.ts';
import type { Accumulator } from './accumulator.ts';

/** A listing that is being read. Nothing is published until a `Tally` commits it. */
export class PendingListing implements ListingSink, Disposable {
  /** Users and tasks read so far. */
  users = 0;
  taskCount = 0;
  #totals: ListingTotals | undefined;
  readonly #share: AccountShare | undefined;
  #reservedCount = 0;

  constructor(share?: AccountShare) {
    this.#share = share;
  }

  reserveAccounts(count: number): boolean {
    if (this.#share?.hasRoom({ reading: count }) === false) return false;
    this.#share?.add({ reading: count });
    this.#reservedCount += count;
    return true;
  }

  /** Returns the accounts that were reserved while the listing was read. */
  [Symbol.dispose](): void {
    this.#share?.add({ reading: -this.#reservedCount });
    this.#reservedCount = 0;
  }

  /** What the complete listing says. */
  get totals(): ListingTotals {
    if (this.#totals === undefined) throw new TypeError('Expected a listing that was read completely');
    return this.#totals;
  }

  setProgress(users: number, tasks: number): void {
    this.users = users;
    this.taskCount = tasks;
  }

  finish(totals: ListingTotals): void {
    this.setProgress(totals.users, totals.taskCount);
    this.#totals = totals;
  }
}

/** Counts records and fields that are not as they should be: these counters appear with the first one. */
export function countFindings(
  { invalidRecords, invalidFields, foreignRecords, surplus }: ListingTotals,
  { increases }: Accumulator,
): void {
  for (const { record, reason, count } of invalidRecords)
    increases.invalidRecords.at(record, reason).add(count);
  for (const { record, field, count } of invalidFields) increases.invalidFields.at(record, field).add(count);
  for (const { record, count } of foreignRecords) increases.foreignRecords.at(record).add(count);
  for (const { item, count } of surplus) increases.listingSurplus.at(item).add(count);
}

/** The servers that have users or tasks. */
export function listServers({ sums }: ListingTotals): ReadonlySet<string> {
  const labelSets = [...sums.servers.labelSets, ...sums.userServers.labelSets];
  const servers = new Set(labelSets.flatMap(({ labels }) => labels));
  servers.delete(UNKNOWN);
  return servers;
}

/** Formats of which some output has connections. */
export function listWatchedFormats({ sums: { outputs } }: ListingTotals): ReadonlySet<string> {
  const sums = [...outputs.listSums('httpConnections')].filter(({ value }) => value > 0);
  return new Set(sums.map(({ labels: [, format = UNKNOWN] }) => format));
}
