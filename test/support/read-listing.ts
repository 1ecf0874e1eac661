import assert from 'node:assert/strict';
import type { Listing } from '../../src/listing/listing.ts';
import type { ListingOptions } from '../../src/listing/listing.ts';
import type { ReaderKeys } from '../../src/listing/listing-sums.ts';
import { ListingReader, ReaderPool } from '../../src/listing/reader.ts';
import { createReaderLimits, type ReaderLimits } from '../../src/listing/reader-limits.ts';
import { loadReaderModule } from '../../src/poller/reader-module.ts';
import { MAX_LISTING_ACCOUNTS } from '../../src/runtime/limits.ts';

/** The service code of test listings. */
export const POLLED_CODE = 'TESTING';

/** The limits of the default settings. */
const READER_LIMITS = createReaderLimits(2000, MAX_LISTING_ACCOUNTS);
const KEYS: ReaderKeys = {
  engine: [0x9e3779b97f4a7c15n, 0xbf58476d1ce4e5b9n],
  rows: [0x2c1b3c6d, 0x297a2d39, 0x5f356495],
};

/** Creates a pool of the release build, or of another one. */
export function createReaderPool(
  limits: Partial<ReaderLimits> = {},
  module = loadReaderModule(),
): ReaderPool {
  return new ReaderPool(module, { ...READER_LIMITS, ...limits }, KEYS);
}

let readers: ReaderPool | undefined;

/** The pool of all tests in a process; the exporter also shares one among service codes. */
export function getReaderPool(): ReaderPool {
  readers ??= createReaderPool();
  return readers;
}

/** Reads a body cut at the given offsets. */
export function readBody(
  body: Uint8Array,
  cuts: readonly number[],
  pool = getReaderPool(),
  options: Partial<ListingOptions> = {},
): { readonly listing: Listing | undefined; readonly ret: number | undefined } {
  using reader = new ListingReader({ serviceCode: POLLED_CODE, ...options }, pool);
  let start = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), body.length]) {
    // Copy each chunk: in a view of the whole body, a read beyond the chunk would go unnoticed.
    if (cut > start || start === 0) reader.write(Buffer.from(body.subarray(start, cut)));
    start = Math.max(start, cut);
  }
  const listing = reader.end();
  return { listing, ret: reader.progress.ret };
}

/** Reads the body of a good listing cut at the given offsets. */
export function readInChunks(...args: Parameters<typeof readBody>): Listing {
  const { listing, ret } = readBody(...args);
  assert.ok(listing !== undefined, `Expected ret 0, found ${ret}`);
  return listing;
}
