import { ListingReader } from '../../src/listing/reader.ts';
import type { ListingSink } from '../../src/listing/record-readers.ts';
import { bareTally } from './bare-tally.ts';
import { bodyOf, NOW_MS } from './listing-body.ts';
import { alternate, compare, cpuMs, type Comparison, type Goal } from './measure.ts';
import type { BodySize } from './polled.ts';

const CHUNK_BYTES = 64 * 1024;

/** Sizes of listings, from 3 MB to 175 MB, each with how many times faster than `JSON.parse` reading is to be. */
const SIZES: readonly ReadingSize[] = [
  { users: 20_000, tasks: 400, rounds: 25, goal: 2.5 },
  { users: 560_000, tasks: 5000, rounds: 9, goal: 4 },
  { users: 1_400_000, tasks: 12_000, rounds: 5, goal: 5 },
];

export interface ReadingSize extends BodySize {
  readonly rounds: number;
  readonly goal: number;
}

/** Reads a body in chunks of the size in which one arrives. */
function read(body: Buffer, sink: ListingSink): void {
  const reader = new ListingReader(sink);
  for (let start = 0; start < body.length; start += CHUNK_BYTES) {
    reader.write(body.subarray(start, start + CHUNK_BYTES));
  }
  reader.end();
}

/** Reads and commits the same body at each call. */
export function tallying(body: Buffer): () => void {
  const tally = bareTally();
  let listings = 0;
  return () => {
    const listing = tally.begin();
    read(body, listing);
    listings += 1;
    tally.commit(listing, { wallMs: NOW_MS + listings, monotonicMs: listings });
  };
}

const IGNORE: ListingSink = { user: () => undefined, task: () => undefined, invalid: () => undefined };

/** Reading, and reading with tallying, against `JSON.parse` of the whole text. */
export async function benchReading(sizes: readonly ReadingSize[] = SIZES): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const size of sizes) comparisons.push(...(await benchSize(size)));
  return comparisons;
}

async function benchSize({ users, tasks, rounds, goal: bound }: ReadingSize): Promise<Comparison[]> {
  const body = bodyOf(users, tasks);
  const megabytes = body.length / 1e6;
  const runs = [() => read(body, IGNORE), tallying(body), () => JSON.parse(body.toString()) as unknown];
  const speeds = await alternate(
    rounds,
    runs.map((run) => async () => (megabytes / (await cpuMs(run))) * 1000),
  );
  const [referenceValue = 0] = speeds.slice(-1);
  const goal: Goal = { measure: 'ratio', direction: 'at least' };
  const subjects = [
    ['reading', { ...goal, bound }],
    // The goal is the reader's: what is counted besides has none of its own.
    ['reading and tallying', goal],
  ] as const;
  return subjects.map(([subject, own], index) =>
    compare(
      {
        name: `${subject}, ${megabytes.toFixed(0)} MB`,
        unit: 'MB/s',
        value: speeds[index] ?? 0,
        reference: 'JSON.parse of the text',
        referenceValue,
      },
      own,
    ),
  );
}
