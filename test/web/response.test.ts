import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { respondCompressed } from '../../src/web/response.ts';

// A digest does not compress, so the result spans several chunks.
const CHUNKS = [
  Buffer.alloc(0),
  createHash('shake256', { outputLength: 1_500_000 }).digest(),
  Buffer.from('short'),
  Buffer.alloc(900_000, 'x'),
];

test('several long chunks become one body, plain or compressed', async () => {
  const respondWith = (encoding: string) =>
    respondCompressed(CHUNKS, 'text/plain', { 'accept-encoding': encoding }, {});
  const plain = await respondWith('identity');
  const compressed = await respondWith('gzip');
  assert.deepEqual(plain.body, Buffer.concat(CHUNKS));
  assert.deepEqual(gunzipSync(compressed.body), plain.body);
  for (const { headers, body } of [plain, compressed])
    assert.equal(headers['Content-Length'], String(body.length));
});
