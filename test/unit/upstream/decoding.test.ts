import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import fc from 'fast-check';

import { BodyDecoder } from '../../../src/upstream/decoding.ts';

const CODINGS = [
  { name: 'gzip', encode: gzipSync },
  { name: 'X-GZIP', encode: gzipSync },
  { name: 'deflate', encode: deflateSync },
  { name: 'deflate', encode: deflateRawSync },
  { name: 'deflate', encode: (body: Uint8Array) => deflateRawSync(body, { level: 0 }) },
  { name: 'br', encode: brotliCompressSync },
  { name: 'identity', encode: (body: Uint8Array) => body },
] as const;

/** Decodes a body that arrives cut at some positions. */
function decode(body: Uint8Array, cuts: readonly number[], contentEncoding: string): Promise<Buffer> {
  const decoded: Uint8Array[] = [];
  return new Promise((resolve, reject) => {
    const decoder = new BodyDecoder(contentEncoding, {
      onDecoded: () => undefined,
      onChunk: (chunk) => decoded.push(chunk),
      onBodyError: reject,
      onBodyEnd: () => resolve(Buffer.concat(decoded)),
      onDrain: () => undefined,
    });
    let from = 0;
    for (const to of [...cuts.filter((cut) => cut < body.length).toSorted((a, b) => a - b), body.length]) {
      decoder.write(body.subarray(from, to));
      from = to;
    }
    decoder.end();
  });
}

describe('decoding', () => {
  it('decodes any stack of codings, for any chunk boundaries', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 2000 }),
        fc.array(fc.constantFrom(...CODINGS), { maxLength: 2 }),
        fc.array(fc.oneof(fc.nat(3), fc.nat(2000)), { maxLength: 8 }),
        async (body, stack, cuts) => {
          const encoded = stack.reduce<Uint8Array>((inner, { encode }) => encode(inner), body);
          const header = stack.map(({ name }) => name).join(', ');
          assert.ok((await decode(encoded, cuts, header)).equals(body));
        },
      ),
    );
  });

  for (const [name, body, cuts] of [
    ['is small and decodes to 5 MB', Buffer.alloc(5_000_000, 'x'), [100, 2000]],
    [
      'is large',
      Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index * 31) >> 7)),
      [70_000],
    ],
    ['has an empty chunk', Buffer.from('{"ret":0}'), [0, 0, 5, 5]],
  ] as const) {
    for (const { name: coding, encode } of CODINGS) {
      it(`decodes ${coding} of a body that ${name}`, async () => {
        assert.ok((await decode(encode(body), cuts, coding)).equals(body));
      });
    }
  }

  it('decodes gzip of several members, although the declared size is that of the last one', async () => {
    const members = ['{"ret":'.repeat(20_000), '0', '}'].map((text) => gzipSync(text));
    const decoded = await decode(Buffer.concat(members), [10], 'gzip');
    assert.equal(decoded.toString(), '{"ret":'.repeat(20_000) + '0}');
  });

  for (const size of [0, 8, 10, 2 ** 20, 2 ** 32 - 1]) {
    it(`rejects gzip of 9 bytes that declares ${size} bytes`, async () => {
      const body = gzipSync('{"ret":0}');
      body.writeUInt32LE(size, body.length - 4);
      await assert.rejects(decode(body, [], 'gzip'), { code: 'Z_DATA_ERROR' });
    });
  }

  it('rejects an unknown coding before the body arrives', async () => {
    await assert.rejects(decode(Buffer.of(), [], 'zstd'), { reason: 'not_json' });
  });
});
