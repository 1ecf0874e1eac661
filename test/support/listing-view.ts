import { UNKNOWN } from '../../src/listing/label-values.ts';
import type { Listing } from '../../src/listing/listing.ts';
import { readCounts, type Rows } from '../../src/listing/rows.ts';

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
}

/** The label sets of rows of counts, each as often as it is counted, sorted. */
export const listEach = (rows: Rows): (readonly string[])[] =>
  Object.entries(readCounts(rows))
    .flatMap(([labels, count]) => Array.from({ length: count }, () => labels))
    .toSorted()
    .map((labels) => labels.split(' '));

/** Converts a listing to plain data. */
export function viewListing(listing: Listing): ListingView {
  const { invalidRecords, invalidFields, foreignRecords, listingSurplus: _, ...rows } = listing.rows;
  const { outputs: formats, renditions, userServers } = rows;
  const sums = Object.values<Rows>(rows).flatMap(({ labelSets, columns }) =>
    Object.entries(columns).map(([family, column]) => {
      const entries = labelSets.map((labels, row) => [labels.join('|'), 0 + (column[row] ?? 0)] as const);
      return [family, Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))] as const;
    }),
  );
  const tasks = Array.from(listing.tasks.values(), (task) => ({
    ...task,
    outputs: task.outputs.map(({ outputRow, renditionRow, ...output }) => ({
      ...output,
      format: formats.labelSets[outputRow],
      rendition: renditions.labelSets[renditionRow],
    })),
  }));
  return {
    users: listing.users,
    taskCount: listing.taskCount,
    tasks: tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    sums: Object.fromEntries(sums),
    invalid: listEach(invalidRecords).map(([record = '']) => record),
    invalidFields: listEach(invalidFields).map((labels) => labels.join('.')),
    foreign: readCounts(foreignRecords),
    servers: userServers.labelSets
      .flat()
      .filter((vsId) => vsId !== UNKNOWN)
      .toSorted(),
  };
}
