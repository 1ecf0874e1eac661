import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { respondCompressed } from '../../src/web/response.ts';

// Random bytes do not compress, so the result spans several chunks.
const CHUNKS = [Buffer.alloc(0), randomBytes(1_500_000), Buffer.from('short'), Buffer.alloc(900_000, 'x')];

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
