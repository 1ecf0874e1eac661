import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { respondCompressed } from '../../../src/web/response.ts';

test('a page is compressed if the client accepts gzip', async () => {
  const page = '<p>Über</p>'.repeat(10_000);
  const respondWith = (encoding: string) =>
    respondCompressed(page, 'text/html', { 'accept-encoding': encoding }, { Vary: 'Accept-Encoding' });
  const plain = await respondWith('identity');
  const compressed = await respondWith('gzip');
  assert.equal(plain.body, page);
  assert.equal(gunzipSync(compressed.body).toString(), page);
  assert.deepEqual(
    [plain, compressed].map(({ headers }) => [headers['Content-Encoding'], headers['Content-Length']]),
    [
      [undefined, String(Buffer.byteLength(page))],
      ['gzip', String(compressed.body.length)],
    ],
  );
});
