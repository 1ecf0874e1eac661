import { COUNTED_GROUPS, type CountedGroupName } from '../listing/label-groups.ts';
import type { Listing } from '../listing/listing.ts';
import { TextRows, recordOf } from '../listing/rows.ts';

type LedgerGroupName = Exclude<CountedGroupName, 'audience'>;

const LEDGER_GROUPS = COUNTED_GROUPS.filter((group): group is LedgerGroupName => group !== 'audience');

/** The rows of one listing to which the ledger and the findings add. */
export type LedgerRows = { readonly [G in LedgerGroupName]: TextRows<G> };

export function createLedgerRows(): LedgerRows {
  // Each label group has its own rows.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return recordOf(LEDGER_GROUPS, (group) => new TextRows(group));
}

/** Counts records and fields that are not as they should be: these counters appear with the first one. */
export function countFindings(listing: Listing, rows: LedgerRows): void {
  const { invalidRecords, invalidFields, foreignRecords, listingSurplus } = rows;
  for (const { record, reason, count } of listing.invalidRecords)
    invalidRecords.add(invalidRecords.find(record, reason), 'invalidRecords', count);
  for (const { record, field, count } of listing.invalidFields)
    invalidFields.add(invalidFields.find(record, field), 'invalidFields', count);
  for (const { record, count } of listing.foreignRecords)
    foreignRecords.add(foreignRecords.find(record), 'foreignRecords', count);
  for (const { item, count } of listing.surplus)
    listingSurplus.add(listingSurplus.find(item), 'listingSurplus', count);
}
