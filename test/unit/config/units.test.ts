import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseBitRate, parseDuration, parseSize } from '../../../src/config/units.ts';

/** Parsers with texts and their values. */
const PARSERS: readonly (readonly [
  parse: (text: string) => number | undefined,
  values: Readonly<Record<string, number>>,
  invalid: readonly string[],
])[] = [
  [
    parseDuration,
    {
      '0': 0,
      '0s': 0,
      '500ms': 500,
      '15s': 15_000,
      '5m': 300_000,
      '1h': 3_600_000,
      '1d': 86_400_000,
      '1h30m': 5_400_000,
      '1d2h3m4s5ms': 93_784_005,
      '90m': 5_400_000,
    },
    ['', '15', 'abc', '1.5s', '-1s', '1s1m', '1s1s', '1 s', ' 1s', '1s\n', '1S', '99999999999999999d'],
  ],
  [
    parseSize,
    {
      '0': 0,
      '1024': 1024,
      '1B': 1,
      '64KiB': 65_536,
      '256MiB': 268_435_456,
      '1GiB': 1_073_741_824,
      '1KB': 1000,
      '1MB': 1_000_000,
      '1GB': 1_000_000_000,
    },
    ['', 'KiB', '1.5GiB', '-1', '1kib', '1 GiB', '1e3', '99999999999999GiB'],
  ],
  [
    parseBitRate,
    {
      '0bit/s': 0,
      '8bit/s': 1,
      '1kbit/s': 125,
      '1Mbit/s': 125_000,
      '40Gbit/s': 5e9,
      '1Tbit/s': 1.25e11,
      '2.5Gbit/s': 312_500_000,
    },
    [
      '',
      '40',
      '40Gbit',
      '40GB/s',
      '40 Gbit/s',
      '40gbit/s',
      '-1bit/s',
      '.5Gbit/s',
      '1e3bit/s',
      '1Gbit/s\n',
      '99999999999999999Tbit/s',
    ],
  ],
];

for (const [parse, values, invalid] of PARSERS) {
  test(`${parse.name} gives the number in the smallest unit, and undefined for other texts`, () => {
    for (const [text, value] of Object.entries(values)) assert.equal(parse(text), value, text);
    for (const text of invalid) assert.equal(parse(text), undefined, JSON.stringify(text));
  });
}

test('a formatted duration parses to itself', () => {
  fc.assert(fc.property(fc.maxSafeNat(), (ms) => parseDuration(formatDuration(ms)) === ms));
});

test('a duration is formatted with the largest units that fit', () => {
  assert.deepEqual([0, 90_000, 5_400_000, 86_400_001].map(formatDuration), ['0s', '1m30s', '1h30m', '1d1ms']);
});
