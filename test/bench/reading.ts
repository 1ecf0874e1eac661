import { ListingReader } from '../../src/listing/reader.ts';
import type { ListingSink } from '../../src/listing/listing-sink.ts';
import { getReaderPool } from '../support/read-listing.ts';
import { createDefaultTally } from './default-tally.ts';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createListingBody, createOtherListingBody, NOW_MS } from './listing-body.ts';
import { measureAlternating, compare, measureCpuMs, type Comparison, type Goal } from './measure.ts';
import type { BodySize } from './polling-process.ts';

const CHUNK_BYTES = 64 * 1024;

/** Listings of 3, 70 and 174 MB, each with the goal for reading and adding up over `JSON.parse`. */
const SIZES: readonly ReadingSize[] = [
  { users: 20_000, tasks: 400, rounds: 25, goal: 3.5 },
  { users: 560_000, tasks: 5000, rounds: 9, goal: 8 },
  { users: 1_400_000, tasks: 12_000, rounds: 5, goal: 9 },
];

export interface ReadingSize extends BodySize {
  readonly rounds: number;
  readonly goal: number;
}

/** Reads a body in chunks of the size in which bodies arrive. */
function readInChunks(body: Buffer, sink: ListingSink): void {
  const reader = new ListingReader(sink, 'T', getReaderPool());
  for (let start = 0; start < body.length; start += CHUNK_BYTES) {
    reader.write(body.subarray(start, start + CHUNK_BYTES));
  }
  reader.end();
}

/** Returns a function that reads and commits the body. */
export function createTallyRun(body: Buffer): () => void {
  const tally = createDefaultTally();
  let listings = 0;
  return () => {
    const listing = tally.beginListing();
    readInChunks(body, listing);
    listings += 1;
    tally.commit(listing, { wallMs: NOW_MS + listings, monotonicMs: listings });
  };
}

const IGNORING_SINK: ListingSink = {
  setProgress: () => undefined,
  addTask: () => undefined,
  finish: () => undefined,
};

/** The goal for a body of another shape, whatever its size. */
const OTHER_SHAPE_GOAL = 6;

/** Compares reading, adding up, committing, and gunzip, with `JSON.parse` of the whole text. */
export async function benchReading(sizes: readonly ReadingSize[] = SIZES): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const size of sizes)
    comparisons.push(...(await benchBody(createListingBody(size.users, size.tasks), '', size)));
  const { users, tasks, rounds } = sizes.at(-1) ?? { users: 0, tasks: 0, rounds: 0 };
  // Its records are larger.
  const other = createOtherListingBody(Math.ceil(users / 2), Math.ceil(tasks / 2));
  comparisons.push(...(await benchBody(other, ' of another shape', { rounds, goal: OTHER_SHAPE_GOAL })));
  return comparisons;
}

async function benchBody(
  body: Buffer,
  shape: string,
  { rounds, goal: bound }: Pick<ReadingSize, 'rounds' | 'goal'>,
): Promise<Comparison[]> {
  const megabytes = body.length / 1e6;
  const compressed = gzipSync(body);
  const tally = createDefaultTally();
  const runs = [
    () => readInChunks(body, IGNORING_SINK),
    () => readInChunks(body, tally.beginListing()),
    createTallyRun(body),
    () => gunzipSync(compressed, { maxOutputLength: body.length }),
    () => JSON.parse(body.toString()) as unknown,
  ];
  const speeds = await measureAlternating(
    rounds,
    runs.map((run) => async () => (megabytes / (await measureCpuMs(run))) * 1000),
  );
  const [referenceValue = 0] = speeds.slice(-1);
  const goal: Goal = { measure: 'ratio', direction: 'at least' };
  const subjects = [
    ['reading', goal],
    ['reading and adding up', { ...goal, bound }],
    // This includes the commit of the ledger, so it has no goal of the reader.
    ['reading and tallying', goal],
    ['gunzip and discarding', goal],
  ] as const;
  return subjects.map(([subject, own], index) =>
    compare(
      {
        name: `${subject}, ${megabytes.toFixed(0)} MB${shape}`,
        unit: 'MB/s',
        value: speeds[index] ?? 0,
        reference: 'JSON.parse of the text',
        referenceValue,
      },
      own,
    ),
  );
}
