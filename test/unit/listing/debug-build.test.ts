import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ReadError } from '../../../src/json-columns/read-error.ts';
import type { ReaderPool } from '../../../src/listing/reader.ts';
import { loadReaderModule } from '../../../src/poller/reader-module.ts';
import { arbitraryListing } from '../../support/arbitrary-listing.ts';
import { writeJsonVariant } from '../../support/json-variants.ts';
import { viewListing } from '../../support/listing-view.ts';
import { createReaderPool, readInChunks } from '../../support/read-listing.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

/** The debug build checks every address, and after each chunk that its tables are consistent. */
const DEBUG_MODULE = loadReaderModule(
  new URL('../../../src/json-columns/reader.debug.wasm', import.meta.url),
);

const SMALL_LIMITS = { maxLabelSets: 8, maxAccounts: 2, maxRows: 50, maxEntryBytes: 65_536 };
const pools = [{}, SMALL_LIMITS].map((limits) => ({
  debug: createReaderPool(limits, DEBUG_MODULE),
  release: createReaderPool(limits),
}));

function readOutcome(body: Buffer, cuts: readonly number[], pool: ReaderPool): unknown {
  try {
    return viewListing(readInChunks(body, cuts, pool));
  } catch (error) {
    if (!(error instanceof ReadError) || error.code === 'internal') throw error;
    return error.message;
  }
}

function assertSame(body: Buffer, cuts: readonly number[]): void {
  for (const { debug, release } of pools)
    assert.deepEqual(readOutcome(body, cuts, debug), readOutcome(body, cuts, release));
}

test('no check of the debug build fails on random listings, for any cuts', () => {
  const cuts = fc.array(fc.nat(), { maxLength: 12 });
  fc.assert(
    fc.property(arbitraryListing, fc.infiniteStream(fc.nat()), cuts, (listing, choices, offsets) => {
      const body = Buffer.from(writeJsonVariant(listing, choices));
      assertSame(
        body,
        offsets.map((offset) => offset % (body.length + 1)),
      );
      assertSame(body.subarray(0, (offsets[0] ?? 0) % (body.length + 1)), []);
    }),
    createRunParameters(200),
  );
});
