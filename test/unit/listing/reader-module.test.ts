import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ListingError } from '../../../src/listing/listing-error.ts';
import { ListingReader } from '../../../src/listing/reader.ts';
import { DEFAULT_READER_LIMITS } from '../../../src/listing/reader-limits.ts';
import { ReaderPool } from '../../../src/listing/reader-pool.ts';
import { loadReaderModule, ReaderModuleError } from '../../../src/poller/reader-module.ts';
import { AccumulatorPool } from '../../../src/tally/accumulator-pool.ts';
import { ListingAggregator } from '../../../src/tally/listing-aggregator.ts';
import { viewListing } from '../../support/listing-view.ts';
import { POLLED_CODE, readInChunks } from '../../support/read-listing.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const BODY = Buffer.from('{"ret":0,"user_list":[{"vs_id":"a"}],"task_list":[{"id":"t","vs_id":"a"}]}');

function createPool(): ReaderPool {
  return new ReaderPool(loadReaderModule(), DEFAULT_READER_LIMITS, 1n);
}

test('a missing or corrupt module is one clear error', () => {
  using folder = new TemporaryFolder();
  const missing = pathToFileURL(folder.at('missing.wasm'));
  const corrupt = pathToFileURL(folder.at('corrupt.wasm'));
  writeFileSync(corrupt, 'no module');
  for (const url of [missing, corrupt]) {
    assert.throws(
      () => loadReaderModule(url),
      (error: Error) => {
        assert.ok(error instanceof ReaderModuleError);
        assert.match(
          error.message,
          /^reader module: expected a WebAssembly module at .+\.wasm, found .+; install/,
        );
        return true;
      },
    );
  }
});

test('listings that are read at the same time do not mix', () => {
  const pool = createPool();
  const listings = [0, 1].map(() => new ListingAggregator(new AccumulatorPool()));
  const readers = listings.map((listing) => new ListingReader(listing, POLLED_CODE, pool));
  for (const byte of BODY) for (const reader of readers) reader.write(Uint8Array.of(byte));
  for (const reader of readers) reader.end();
  const [one, other] = listings.map(viewListing);
  assert.deepEqual(one, other);
  assert.deepEqual(one?.servers, ['a']);
  assert.equal(pool.freeCount, 2);
});

test('an instance is released after the end, an error and disposal', () => {
  const pool = createPool();
  readInChunks(BODY, [], pool);
  assert.equal(pool.freeCount, 1);
  assert.throws(() => readInChunks(Buffer.from('<html>'), [], pool), ListingError);
  assert.equal(pool.freeCount, 1);
  const reader = new ListingReader(new ListingAggregator(new AccumulatorPool()), POLLED_CODE, pool);
  reader.write(BODY);
  assert.equal(pool.freeCount, 0);
  reader[Symbol.dispose]();
  assert.equal(pool.freeCount, 1);
});

test('a trap is an error of the listing, and the next one gets a fresh instance', () => {
  const pool = createPool();
  const instance = pool.acquire();
  pool.release(instance);
  Object.assign(instance, {
    write: () => {
      throw new WebAssembly.RuntimeError('unreachable');
    },
  });
  assert.throws(
    () => readInChunks(BODY, [], pool),
    (error: Error) => error instanceof ListingError && error.code === 'internal',
  );
  assert.equal(pool.freeCount, 0);
  assert.equal(readInChunks(BODY, [], pool).listing.users, 1);
});

test('labels of earlier listings do not change a later one', () => {
  const pool = createPool();
  const fresh = viewListing(readInChunks(BODY, [], createPool()).listing);
  for (let round = 0; round < 4; round += 1) {
    const users = Array.from({ length: 3000 }, (_, index) => `{"client_version":"v${round}-${index}"}`);
    const { listing } = readInChunks(
      Buffer.from(`{"ret":0,"task_list":[],"user_list":[${users.join(',')}]}`),
      [],
      pool,
    );
    assert.equal(Object.keys(viewListing(listing).gauges['onlineUsers'] ?? {}).length, 3000);
    assert.deepEqual(viewListing(readInChunks(BODY, [], pool).listing), fresh);
  }
});
