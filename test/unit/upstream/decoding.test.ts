import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import fc from 'fast-check';

import { TurnGate } from '../../../src/upstream/turn-gate.ts';
import { decompress, parseContentEncoding, skipByteOrderMark } from '../../../src/upstream/decoding.ts';

const CODINGS = [
  { name: 'gzip', encode: gzipSync },
  { name: 'X-GZIP', encode: gzipSync },
  { name: 'deflate', encode: deflateSync },
  { name: 'deflate', encode: deflateRawSync },
  { name: 'deflate', encode: (body: Uint8Array) => deflateRawSync(body, { level: 0 }) },
  { name: 'identity,', encode: (body: Uint8Array) => body },
] as const;

/** Decodes a body that arrives cut at some positions. */
async function decode(body: Uint8Array, cuts: readonly number[], contentEncoding: string): Promise<Buffer> {
  async function* receive(): AsyncGenerator<Buffer> {
    let from = 0;
    for (const to of [...cuts.filter((cut) => cut < body.length).toSorted((a, b) => a - b), body.length]) {
      yield Buffer.from(body.subarray(from, to));
      from = to;
    }
  }
  const coding = parseContentEncoding(contentEncoding);
  if (coding === undefined) return Buffer.from(body);
  let bytes = 0;
  const gate = new TurnGate();
  const chunks = decompress(receive(), coding, gate, (size) => (bytes += size));
  const decoded = Buffer.concat(await Readable.from(chunks).toArray());
  assert.equal(bytes, body.length);
  return decoded;
}

describe('decoding', () => {
  it('decodes any coding, for any chunk boundaries', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 2000 }),
        fc.constantFrom(...CODINGS),
        fc.array(fc.oneof(fc.nat(3), fc.nat(2000)), { maxLength: 8 }),
        async (body, { name, encode }, cuts) => {
          assert.ok((await decode(encode(body), cuts, name)).equals(body));
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

  for (const contentEncoding of ['br', 'zstd', 'gzip, gzip', 'constructor']) {
    it(`rejects ${contentEncoding}`, () => {
      assert.throws(() => parseContentEncoding(contentEncoding), { reason: 'not_json' });
    });
  }
});

for (const [body, expected] of [
  ['\ufeff{"ret":0}', '{"ret":0}'],
  ['\ufeff\ufeff{}', '\ufeff{}'],
  ['{"a":"\ufeff"}', '{"a":"\ufeff"}'],
  ['\ufeff', ''],
  ['{}', '{}'],
  ['', ''],
] as const)
  it(`${JSON.stringify(body)} without a byte order mark is ${JSON.stringify(expected)}`, () => {
    assert.ok(skipByteOrderMark(Buffer.from(body)).equals(Buffer.from(expected)));
  });
