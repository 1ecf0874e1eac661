import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseOrdinal, selectShard } from '../../../src/sharding/shard.ts';
import { arbitraryText } from '../../support/arbitrary-text.ts';
import { assertGolden, readFixture } from '../../support/fixtures.ts';

const COUNTS = [1, 2, 3, 4, 5, 7, 8, 16, 20, 64, 1000] as const;

/** Typical service codes and edge cases, some of which the configuration rejects. */
const CODES: readonly string[] = [
  'TESTING',
  'testing',
  'A',
  'B',
  'AB',
  'BA',
  '0',
  '00',
  'code-1',
  'code-2',
  'code-10',
  'live.example.com/one',
  'Übertragung',
  'U\u0308bertragung',
  '東京スタジアム',
  'стадион',
  '📺',
  '📺📺',
  '\ud83d',
  '\udcfa',
  'half \ud83d',
  '\udcfa\ud83d',
  '',
  'x'.repeat(128),
];

test('the shard of a service code is the same as in all earlier versions', () => {
  const lines = CODES.map((code) => {
    const shards = COUNTS.map((count) => selectShard(code, count));
    // JSON escapes lone surrogates, which UTF-8 cannot encode.
    return `${JSON.stringify({ code, shards })}\n`;
  });
  const text = `${JSON.stringify({ counts: COUNTS })}\n${lines.join('')}`;
  assertGolden('sharding/vectors.jsonl', text);
  assert.equal(readFixture('sharding/vectors.jsonl').toString().split('\n').length, CODES.length + 2);
});

const KINDS: readonly (readonly [kind: string, createName: (number: number) => string])[] = [
  ['with a counter', (number) => `code-${number}`],
  ['with a zero-padded counter', (number) => String(number).padStart(8, '0')],
  ['in hexadecimal, in steps of a million', (number) => (number * 1_000_003).toString(16)],
  ['of non-ASCII characters', (number) => `東京-${String.fromCodePoint(0x4e00 + number)}`],
];
const MANY = 10_000;

for (const [kind, createName] of KINDS) {
  test(`${MANY} service codes ${kind} spread evenly over 2 to 64 shards`, () => {
    const names = Array.from({ length: MANY }, (_, number) => createName(number));
    for (let count = 2; count <= 64; count += 1) {
      const sizes = Array.from({ length: count }, () => 0);
      for (const name of names) {
        const owner = selectShard(name, count);
        sizes[owner] = (sizes[owner] ?? 0) + 1;
      }
      const mean = MANY / count;
      const chiSquare = sizes.reduce((sum, size) => sum + (size - mean) ** 2 / mean, 0);
      // With few degrees of freedom, chi-square exceeds its mean by four standard deviations in less than one
      // of 1000 trials. These 315 trials are deterministic.
      const degreesOfFreedom = count - 1;
      assert.ok(
        chiSquare < degreesOfFreedom + 5 * Math.sqrt(2 * degreesOfFreedom),
        `${count} shards: ${chiSquare}`,
      );
      assert.ok(Math.max(...sizes) < mean + 5 * Math.sqrt(mean), `${count} shards: ${Math.max(...sizes)}`);
    }
  });
}

test('a new shard takes service codes from the others, and none move between them', () => {
  fc.assert(
    fc.property(arbitraryText(), fc.integer({ min: 1, max: 999 }), (code, count) => {
      const before = selectShard(code, count);
      const after = selectShard(code, count + 1);
      assert.ok(after === before || after === count, `${before} became ${after}`);
      assert.ok(before >= 0 && before < count);
    }),
  );
});

const HOSTS: readonly (readonly [name: string, ordinal: number | undefined])[] = [
  ['xvs-exporter-0', 0],
  ['xvs-exporter-3', 3],
  ['xvs-exporter-3.xvs-exporter.live.svc.cluster.local', 3],
  ['a-1-2', 2],
  ['xvs-exporter', undefined],
  ['xvs-exporter-', undefined],
  ['xvs-exporter-03', undefined],
  ['xvs-exporter-7d4b9c6f5-x2x4k', undefined],
  ['3', undefined],
  ['', undefined],
];

for (const [name, ordinal] of HOSTS) {
  test(`the ordinal of the host ${JSON.stringify(name)} is ${ordinal ?? 'missing'}`, () => {
    assert.equal(parseOrdinal(name), ordinal);
  });
}
