import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { instantiate } from '../../../src/json-columns/exports.ts';
import { ReadError } from '../../../src/json-columns/read-error.ts';
import { ListingReader } from '../../../src/listing/reader.ts';
import { loadReaderModule, ReaderModuleError } from '../../../src/poller/reader-module.ts';
import { MAX_PAGES } from '../../../src/runtime/web-assembly.ts';
import { viewListing } from '../../support/listing-view.ts';
import { createReaderPool, POLLED_CODE, readInChunks } from '../../support/read-listing.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const BODY = Buffer.from('{"ret":0,"user_list":[{"vs_id":"a"}],"task_list":[{"id":"t","vs_id":"a"}]}');

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

test('a processor with another byte order, on which all numbers would be wrong, is an error', () => {
  assert.throws(
    () => loadReaderModule(undefined, 'BE'),
    /^ReaderModuleError: reader module: expected a little-endian/,
  );
});

test('the memory of the module grows to the pages that the process allows it, and no further', () => {
  const trap = (): never => assert.fail();
  const host = new Proxy({}, { get: () => trap });
  const { memory } = instantiate(loadReaderModule(), host);
  assert.ok(memory instanceof WebAssembly.Memory);
  memory.grow(MAX_PAGES - memory.buffer.byteLength / 65_536);
  assert.throws(() => memory.grow(1), RangeError);
});

test('listings that are read at the same time do not mix', () => {
  const pool = createReaderPool();
  const readers = [0, 1].map(() => new ListingReader({ serviceCode: POLLED_CODE }, pool));
  for (const byte of BODY) for (const reader of readers) reader.write(Uint8Array.of(byte));
  const listings = readers.map((reader) => reader.end());
  const [one, other] = listings.map((listing) => listing && viewListing(listing));
  assert.deepEqual(one, other);
  assert.deepEqual(one?.servers, ['a']);
  assert.equal(pool.freeCount, 2);
});

test('an instance is released after the end, an error and disposal', () => {
  const pool = createReaderPool();
  readInChunks(BODY, [], pool);
  assert.equal(pool.freeCount, 1);
  assert.throws(() => readInChunks(Buffer.from('<html>'), [], pool), ReadError);
  assert.equal(pool.freeCount, 1);
  const reader = new ListingReader({ serviceCode: POLLED_CODE }, pool);
  reader.write(BODY);
  assert.equal(pool.freeCount, 0);
  reader[Symbol.dispose]();
  assert.equal(pool.freeCount, 1);
});

for (const [trap, code] of [
  ['memory access out of bounds', 'internal'],
  // What the module runs into if its memory cannot grow.
  ['unreachable', 'resources'],
] as const) {
  test(`the trap "${trap}" is an error of the listing, and the next one gets a fresh instance`, () => {
    const pool = createReaderPool();
    const instance = pool.acquire(undefined);
    pool.release(instance);
    Object.assign(instance.reader, {
      write: () => {
        throw new WebAssembly.RuntimeError(trap);
      },
    });
    assert.throws(
      () => readInChunks(BODY, [], pool),
      (error: Error) => error instanceof ReadError && error.code === code,
    );
    assert.equal(pool.freeCount, 0);
    assert.equal(readInChunks(BODY, [], pool).users, 1);
  });
}

test('labels of earlier listings do not change a later one', () => {
  const pool = createReaderPool();
  const fresh = viewListing(readInChunks(BODY, [], createReaderPool()));
  for (let round = 0; round < 4; round += 1) {
    const users = Array.from({ length: 3000 }, (_, index) => `{"client_version":"v${round}-${index}"}`);
    const listing = readInChunks(
      Buffer.from(`{"ret":0,"task_list":[],"user_list":[${users.join(',')}]}`),
      [],
      pool,
    );
    assert.equal(Object.keys(viewListing(listing).sums['onlineUsers'] ?? {}).length, 3000);
    assert.deepEqual(viewListing(readInChunks(BODY, [], pool)), fresh);
  }
});
