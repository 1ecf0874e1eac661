import { ListingReader } from '../../src/listing/reader.ts';
import type { ListingResult } from '../../src/listing/reader-instance.ts';
import { DEFAULT_READER_LIMITS } from '../../src/listing/reader-limits.ts';
import { ReaderPool } from '../../src/listing/reader-pool.ts';
import { loadReaderModule } from '../../src/poller/reader-module.ts';
import { AccumulatorPool } from '../../src/tally/accumulator-pool.ts';
import { ListingAggregator } from '../../src/tally/listing-aggregator.ts';
import { ListingReader as FrozenReader } from '../oracle/listing/reader.ts';
import { RecordReaders } from '../oracle/listing/record-readers.ts';
import { RecordAggregator } from '../oracle/tally/record-aggregator.ts';

/** The service code of test listings. */
export const POLLED_CODE = 'TESTING';

let readers: ReaderPool | undefined;

/** The pool of all tests in a process; the exporter also shares one among service codes. */
export function getReaderPool(): ReaderPool {
  readers ??= new ReaderPool(loadReaderModule(), DEFAULT_READER_LIMITS, 0x9e3779b97f4a7c15n);
  return readers;
}

const frozenRecords = new RecordReaders();

interface Writer {
  write(chunk: Uint8Array): void;
}

/** Writes a body cut at the given offsets. */
function writeInChunks(reader: Writer, body: Uint8Array, cuts: readonly number[]): void {
  let start = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), body.length]) {
    // Copy each chunk: in a view of the whole body, a read beyond the chunk would go unnoticed.
    if (cut > start || start === 0) reader.write(Buffer.from(body.subarray(start, cut)));
    start = Math.max(start, cut);
  }
}

/** Reads a body cut at the given offsets. */
export function readInChunks(
  body: Uint8Array,
  cuts: readonly number[],
  pool = getReaderPool(),
): { listing: ListingAggregator; end: ListingResult } {
  const listing = new ListingAggregator(new AccumulatorPool());
  using reader = new ListingReader(listing, POLLED_CODE, pool);
  writeInChunks(reader, body, cuts);
  return { listing, end: reader.end() };
}

/** Reads a body with the frozen JavaScript reader. */
export function readWithOracle(
  body: Uint8Array,
  cuts: readonly number[],
): { listing: RecordAggregator; end: ListingResult } {
  const listing = new RecordAggregator(new AccumulatorPool());
  const reader = new FrozenReader(listing, POLLED_CODE, frozenRecords);
  writeInChunks(reader, body, cuts);
  const end = reader.end();
  listing.finish();
  return { listing, end };
}
