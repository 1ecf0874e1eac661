import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shardOf } from '../../src/sharding/rendezvous.ts';
import { assertGolden, fixture } from '../support/fixtures.ts';

const COUNTS = [1, 2, 3, 4, 5, 7, 8, 16, 20, 64, 1000] as const;

/** As codes are, and as they must not break it: also what the configuration does not let through. */
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

test('the shard of a code is what it was in every version before', () => {
  const lines = CODES.map((code) => {
    const shards = COUNTS.map((count) => shardOf(code, count));
    // By code units: half a surrogate pair has no bytes.
    return `${JSON.stringify({ code, shards })}\n`;
  });
  const text = `${JSON.stringify({ counts: COUNTS })}\n${lines.join('')}`;
  assertGolden('sharding/vectors.jsonl', text);
  assert.equal(fixture('sharding/vectors.jsonl').toString().split('\n').length, CODES.length + 2);
});

const KINDS: readonly (readonly [kind: string, nameOf: (number: number) => string])[] = [
  ['counted', (number) => `code-${number}`],
  ['counted with zeros', (number) => String(number).padStart(8, '0')],
  ['in hexadecimal, counted by a million', (number) => (number * 1_000_003).toString(16)],
  ['that end alike', (number) => `${number}@live.example.com`],
  ['of characters beyond ASCII', (number) => `東京-${String.fromCodePoint(0x4e00 + number)}`],
];
const MANY = 10_000;

for (const [kind, nameOf] of KINDS) {
  test(`${MANY} codes ${kind} spread evenly over 2 to 64 shards`, () => {
    const names = Array.from({ length: MANY }, (_, number) => nameOf(number));
    for (let count = 2; count <= 64; count += 1) {
      const sizes = Array.from({ length: count }, () => 0);
      for (const name of names) {
        const owner = shardOf(name, count);
        sizes[owner] = (sizes[owner] ?? 0) + 1;
      }
      const mean = MANY / count;
      const chiSquare = sizes.reduce((sum, size) => sum + (size - mean) ** 2 / mean, 0);
      // Of fair dice, chi-square exceeds its mean by four of its standard deviations less than once in a thousand
      // trials, where freedom is small; there are 315 of them here, whose outcome never changes.
      const freedom = count - 1;
      assert.ok(chiSquare < freedom + 5 * Math.sqrt(2 * freedom), `${count} shards: ${chiSquare}`);
      assert.ok(Math.max(...sizes) < mean + 5 * Math.sqrt(mean), `${count} shards: ${Math.max(...sizes)}`);
    }
  });
}

test('one more shard takes codes from the others, and none moves between these', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 999 }), (code, count) => {
      const before = shardOf(code, count);
      const after = shardOf(code, count + 1);
      assert.ok(after === before || after === count, `${before} became ${after}`);
      assert.ok(before >= 0 && before < count);
    }),
  );
});

test('it takes its share of them, and no more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 64 }), fc.nat(), (count, salt) => {
      const names = Array.from({ length: 5000 }, (_, number) => `${salt}-${number}`);
      const moved = names.filter((name) => shardOf(name, count) !== shardOf(name, count + 1)).length;
      const share = 1 / (count + 1);
      const deviation = Math.sqrt(5000 * share * (1 - share));
      assert.ok(
        Math.abs(moved - 5000 * share) < 6 * deviation,
        `${moved} of 5000 moved to one of ${count + 1}`,
      );
    }),
    { numRuns: 50 },
  );
});
