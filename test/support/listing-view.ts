import { LISTING_SUMS, listSums } from '../../src/listing/families.ts';
import type { Listing } from '../../src/listing/listing.ts';
import { listServers, listWatchedFormats } from '../../src/tally/listing-findings.ts';

/** The results of reading a listing, as plain data, to compare two readers. */
export interface ListingView {
  readonly users: number;
  readonly taskCount: number;
  readonly tasks: readonly object[];
  /** By the key of the catalogue, then by labels joined by a vertical bar. */
  readonly sums: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Kinds of rejected entries, sorted, once for each entry. */
  readonly invalid: readonly string[];
  /** In the form `record.field`, sorted, once for each occurrence. */
  readonly invalidFields: readonly string[];
  readonly foreign: Readonly<Record<string, number>>;
  readonly servers: readonly string[];
  readonly watchedFormats: readonly string[];
}

const repeat = (name: string, count: number): string[] => Array.from({ length: count }, () => name);

/** Converts a listing to plain data. */
export function viewListing(listing: Listing): ListingView {
  const { outputs: formats, renditions } = listing.sums;
  const sums = LISTING_SUMS.map((sum) => {
    const entries = [...listSums(listing.sums, sum)].map(
      ({ labels, value }) => [labels.join('|'), value] as const,
    );
    return [sum, Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))] as const;
  });
  const tasks = Array.from(listing.tasks.values(), (task) => ({
    ...task,
    outputs: task.outputs.map(({ outputRow, renditionRow, ...output }) => ({
      ...output,
      format: formats.labelSets[outputRow]?.labels,
      rendition: renditions.labelSets[renditionRow]?.labels,
    })),
  }));
  return {
    users: listing.users,
    taskCount: listing.taskCount,
    tasks: tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    sums: Object.fromEntries(sums),
    invalid: listing.invalidRecords.flatMap(({ record, count }) => repeat(record, count)).toSorted(),
    invalidFields: listing.invalidFields
      .flatMap(({ record, field, count }) => repeat(`${record}.${field}`, count))
      .toSorted(),
    foreign: Object.fromEntries(listing.foreignRecords.map(({ record, count }) => [record, count])),
    servers: [...listServers(listing)].toSorted(),
    watchedFormats: [...listWatchedFormats(listing)].toSorted(),
  };
}
