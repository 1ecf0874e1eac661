import { ListingReader } from '../../src/listing/reader.ts';
import type { Tally } from '../../src/tally/tally.ts';
import { createDefaultTally } from '../support/default-tally.ts';
import { getReaderPool } from '../support/read-listing.ts';
import { createListingBody, createOtherListingBody } from './listing-body.ts';
import { measureAlternating, compare, measureCpuMs, type Comparison, type Goal } from './measure.ts';
import type { BodySize } from './served-body.ts';

const CHUNK_BYTES = 64 * 1024;

interface ReadingSize extends BodySize {
  readonly shape?: 'other';
  readonly rounds: number;
  /** Listings that are read in a round: small ones repeatedly. */
  readonly times: number;
  readonly goal: Goal;
}

/** 42 KB in 76 µs. */
const SMALL_GOAL: Goal = { measure: 'value', direction: 'at least', bound: 553 };
/** Reading and adding up over `JSON.parse`. */
const timesParse = (bound: number): Goal => ({ measure: 'ratio', direction: 'at least', bound });

/** Listings of 45 KB, 3 MB and 174 MB, and one of 116 MB in another shape. */
const SIZES: readonly ReadingSize[] = [
  { users: 100, tasks: 20, rounds: 15, times: 200, goal: SMALL_GOAL },
  { users: 20_000, tasks: 400, rounds: 15, times: 4, goal: timesParse(4) },
  { users: 1_400_000, tasks: 12_000, rounds: 5, times: 1, goal: timesParse(8.5) },
  { users: 700_000, tasks: 6000, shape: 'other', rounds: 5, times: 1, goal: timesParse(6.5) },
];

/** Reads a body in chunks of the size in which bodies arrive. */
function readInChunks(body: Buffer, { accountShare }: Tally): void {
  const reader = new ListingReader({ serviceCode: 'T' }, getReaderPool(), accountShare);
  for (let start = 0; start < body.length; start += CHUNK_BYTES) {
    reader.write(body.subarray(start, start + CHUNK_BYTES));
  }
  reader.end();
}

/** Compares reading and adding up with `JSON.parse` of the whole text. */
export async function benchReading(): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const size of SIZES) comparisons.push(await benchBody(size));
  return comparisons;
}

async function benchBody({ users, tasks, shape, rounds, times, goal }: ReadingSize): Promise<Comparison> {
  const body = shape === undefined ? createListingBody(users, tasks) : createOtherListingBody(users, tasks);
  const megabytes = body.length / 1e6;
  const tally = createDefaultTally();
  const runs = [() => readInChunks(body, tally), () => JSON.parse(body.toString()) as unknown];
  const [value = 0, referenceValue = 0] = await measureAlternating(
    rounds,
    runs.map((run) => async () => {
      const cpuMs = await measureCpuMs(() => {
        for (let time = 0; time < times; time += 1) run();
      });
      return ((times * megabytes) / cpuMs) * 1000;
    }),
  );
  const name = `reading a listing of ${formatSize(body.length)}${shape === undefined ? '' : ' in another shape'}`;
  return compare({ name, unit: 'MB/s', value, reference: 'JSON.parse of the text', referenceValue }, goal);
}

const formatSize = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} KB` : `${(bytes / 1e6).toFixed(0)} MB`;
