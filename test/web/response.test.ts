import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { respondCompressed } from '../../src/web/compression.ts';

// Random bytes do not shrink: what comes back is longer than any chunk.
const PIECES = [Buffer.alloc(0), randomBytes(1_500_000), Buffer.from('short'), Buffer.alloc(900_000, 'x')];

test('an answer in several long pieces is one body, plain or compressed', async () => {
  const answer = (encoding: string) =>
    respondCompressed(PIECES, 'text/plain', { 'accept-encoding': encoding }, {});
  const plain = await answer('identity');
  const compressed = await answer('gzip');
  assert.deepEqual(plain.body, Buffer.concat(PIECES));
  assert.deepEqual(gunzipSync(compressed.body), plain.body);
  for (const { headers, body } of [plain, compressed])
    assert.equal(headers['Content-Length'], String(body.length));
});
