import { LISTING_SUMS, listSums } from '../../src/listing/families.ts';
import type { ListingTotals } from '../../src/listing/listing-sink.ts';
import { listServers, listWatchedFormats } from '../../src/tally/pending-listing.ts';

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
export function viewListing({ totals }: { readonly totals: ListingTotals }): ListingView {
  const { outputs: formats, renditions } = totals.sums;
  const sums = LISTING_SUMS.map((sum) => {
    const entries = [...listSums(totals.sums, sum)].map(
      ({ labels, value }) => [labels.join('|'), value] as const,
    );
    return [sum, Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))] as const;
  });
  const tasks = Array.from(totals.tasks.values(), (task) => ({
    ...task,
    outputs: task.outputs.map(({ outputRow, renditionRow, ...output }) => ({
      ...output,
      format: formats.labelSets[outputRow]?.labels,
      rendition: renditions.labelSets[renditionRow]?.labels,
    })),
  }));
  return {
    users: totals.users,
    taskCount: totals.taskCount,
    tasks: tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    sums: Object.fromEntries(sums),
    invalid: totals.invalidRecords.flatMap(({ record, count }) => repeat(record, count)).toSorted(),
    invalidFields: totals.invalidFields
      .flatMap(({ record, field, count }) => repeat(`${record}.${field}`, count))
      .toSorted(),
    foreign: Object.fromEntries(totals.foreignRecords.map(({ record, count }) => [record, count])),
    servers: [...listServers(totals)].toSorted(),
    watchedFormats: [...listWatchedFormats(totals)].toSorted(),
  };
}
