import { AccumulatorPool } from '../../src/tally/accumulator-pool.ts';
import type { ListingSums } from '../../src/tally/listing-aggregator.ts';
import { RecordAggregator } from '../oracle/tally/record-aggregator.ts';
import type { CollectedRecords } from './listing-oracle.ts';

/** The results of reading a listing, as plain data, to compare two readers. */
export interface ListingView {
  readonly users: number;
  readonly tasks: readonly object[];
  /** Sums by family, then by labels joined by a vertical bar. */
  readonly gauges: Readonly<Record<string, Readonly<Record<string, number>>>>;
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
export function viewListing(listing: ListingSums): ListingView {
  const gauges = Object.entries(listing.gauges).map(([gauge, sums]) => {
    const entries = [...sums].map(({ labels, value }): [string, number] => [labels.join('|'), value]);
    return [gauge, Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))];
  });
  const tasks = [...listing.tasks].map((task) => ({
    ...task,
    outputs: task.outputs.map(({ serverFormatRow, renditionRow, ...output }) => ({
      ...output,
      serverFormat: listing.outputSums.get(serverFormatRow).labels,
      rendition: listing.outputSums.get(renditionRow).labels,
    })),
  }));
  return {
    users: listing.users,
    tasks,
    gauges: Object.fromEntries(gauges) as ListingView['gauges'],
    invalid: listing.invalidCounts.flatMap(({ record, count }) => repeat(record, count)).toSorted(),
    invalidFields: listing.invalidFields
      .flatMap(({ record, field, count }) => repeat(`${record}.${field}`, count))
      .toSorted(),
    foreign: Object.fromEntries(listing.foreignRecords.map(({ record, count }) => [record, count])),
    servers: [...listing.servers].toSorted(),
    watchedFormats: [...listing.watchedFormats].toSorted(),
  };
}

/** Computes the view of the records of the schema. */
export function viewRecords({ users, tasks, invalid, invalidFields }: CollectedRecords): ListingView {
  const listing = new RecordAggregator(new AccumulatorPool());
  for (const user of users) listing.addUser(user);
  for (const task of tasks) listing.addTask(task);
  // The schema does not classify rejected entries.
  for (const record of invalid) listing.addInvalid(record, 'not_an_object');
  for (const [record, field] of invalidFields.map(splitField)) listing.addInvalidField(record, field);
  listing.finish();
  return viewListing(listing);
}

function splitField(name: string): [CollectedRecords['invalid'][number], string] {
  const [record, field] = name.split('.');
  return [record as CollectedRecords['invalid'][number], field ?? ''];
}
