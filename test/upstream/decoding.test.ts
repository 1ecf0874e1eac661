import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import fc from 'fast-check';

import { decodeBody } from '../../src/upstream/decoding.ts';

const CODINGS = [
  { name: 'gzip', encode: gzipSync },
  { name: 'X-GZIP', encode: gzipSync },
  { name: 'deflate', encode: deflateSync },
  { name: 'deflate', encode: deflateRawSync },
  { name: 'br', encode: brotliCompressSync },
  { name: 'identity', encode: (body: Uint8Array) => body },
] as const;

async function* inPieces(body: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const to of [...cuts.filter((cut) => cut < body.length).toSorted((a, b) => a - b), body.length]) {
    yield body.subarray(from, to);
    from = to;
  }
}

describe('decoding', () => {
  it('undoes any stack of codings, wherever the body is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 2000 }),
        fc.array(fc.constantFrom(...CODINGS), { maxLength: 4 }),
        fc.array(fc.oneof(fc.nat(3), fc.nat(2000)), { maxLength: 8 }),
        async (body, stack, cuts) => {
          const encoded = stack.reduce<Uint8Array>((inner, { encode }) => encode(inner), body);
          const header = stack.map(({ name }) => name).join(', ');
          const decoded: Uint8Array[] = [];
          for await (const chunk of decodeBody(inPieces(encoded, cuts), header)) {
            decoded.push(chunk);
          }
          assert.ok(Buffer.concat(decoded).equals(body));
        },
      ),
    );
  });
});
