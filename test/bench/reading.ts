import { ListingReader } from '../../src/listing/reader.ts';
import type { ListingSink } from '../../src/listing/record-readers.ts';
import { createWorld } from '../../src/simulator/world.ts';
import { Tally } from '../../src/tally/tally.ts';
import { alternate, type Comparison } from './measure.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const CHUNK_BYTES = 64 * 1024;

/** Sizes of listings, from 3 MB to 175 MB. */
const SIZES = [
  { users: 20_000, tasks: 400, rounds: 15 },
  { users: 560_000, tasks: 5000, rounds: 5 },
  { users: 1_400_000, tasks: 12_000, rounds: 3 },
] as const;

/** A body as the service sends it. */
function bodyOf(users: number, tasks: number): Buffer {
  const world = createWorld({ seed: 1, startedAtMs: NOW_MS, users, tasks });
  const list = (records: Iterable<unknown>): string =>
    Array.from(records, (record) => JSON.stringify(record)).join(',');
  return Buffer.from(
    `{"ret":0,"user_list":[${list(world.users('T', NOW_MS))}],"task_list":[${list(world.tasks('T', NOW_MS))}]}`,
  );
}

function read(body: Buffer, sink: ListingSink): void {
  const reader = new ListingReader(sink);
  for (let start = 0; start < body.length; start += CHUNK_BYTES) {
    reader.write(body.subarray(start, start + CHUNK_BYTES));
  }
  reader.end();
}

/** Reads and commits the same body over and over. */
function tallying(body: Buffer): () => void {
  const tally = new Tally({
    serviceCode: 'T',
    maxLabelSets: 1000,
    stallAfterMs: 60_000,
    perTask: false,
    maxTasks: 0,
  });
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
export async function benchReading(): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const { users, tasks, rounds } of SIZES) {
    const body = bodyOf(users, tasks);
    const megabytes = body.length / 1e6;
    const runs = [() => read(body, IGNORE), tallying(body), () => JSON.parse(body.toString()) as unknown];
    const [readMs = 0, tallyMs = 0, parseMs = 0] = await alternate(rounds, runs);
    for (const [subject, ownMs] of [
      ['reading', readMs],
      ['reading and tallying', tallyMs],
    ] as const) {
      comparisons.push({
        name: `${subject}, ${megabytes.toFixed(0)} MB`,
        reference: 'JSON.parse of the text',
        unit: 'MB/s',
        value: (megabytes / ownMs) * 1000,
        referenceValue: (megabytes / parseMs) * 1000,
        ratio: parseMs / ownMs,
      });
    }
  }
  return comparisons;
}
