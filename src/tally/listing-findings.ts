import { UNKNOWN } from '../listing/label-values.ts';
import type { Listing } from '../listing/listing.ts';
import type { Accumulator } from './accumulator.ts';

/** Counts records and fields that are not as they should be: these counters appear with the first one. */
export function countFindings(
  { invalidRecords, invalidFields, foreignRecords, surplus }: Listing,
  { increases }: Accumulator,
): void {
  for (const { record, reason, count } of invalidRecords)
    increases.invalidRecords.at(record, reason).add(count);
  for (const { record, field, count } of invalidFields) increases.invalidFields.at(record, field).add(count);
  for (const { record, count } of foreignRecords) increases.foreignRecords.at(record).add(count);
  for (const { item, count } of surplus) increases.listingSurplus.at(item).add(count);
}

/** The servers that have users or tasks. */
export function listServers({ sums }: Listing): ReadonlySet<string> {
  const labelSets = [...sums.servers.labelSets, ...sums.userServers.labelSets];
  const servers = new Set(labelSets.flatMap(({ labels }) => labels));
  servers.delete(UNKNOWN);
  return servers;
}

/** Formats of which some output has connections. */
export function listWatchedFormats({ sums: { outputs } }: Listing): ReadonlySet<string> {
  const sums = [...outputs.listSums('httpConnections')].filter(({ value }) => value > 0);
  return new Set(sums.map(({ labels: [, format = UNKNOWN] }) => format));
}
