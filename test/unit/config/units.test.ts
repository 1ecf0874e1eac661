import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseBitRate, parseDuration, parseSize } from '../../../src/config/units.ts';

const PARSERS = [
  [
    parseDuration,
    '0=0 0s=0 500ms=500 15s=15000 5m=300000 1h=3600000 1d=86400000 2w=1209600000 1y=31536000000 1w1d=691200000 1h30m=5400000 1d2h3m4s5ms=93784005 90m=5400000',
    [
      '',
      '15',
      'abc',
      '1.5s',
      '-1s',
      '1s1m',
      '1s1s',
      '1d1w',
      '1 s',
      ' 1s',
      '1s\n',
      '1S',
      '99999999999999999d',
    ],
  ],
  [
    parseSize,
    '0=0 1024=1024 1B=1 64KiB=65536 256MiB=268435456 1GiB=1073741824 1KB=1000 1MB=1000000 1GB=1000000000',
    ['', 'KiB', '1.5GiB', '-1', '1kib', '1 GiB', '1e3', '99999999999999GiB'],
  ],
  [
    parseBitRate,
    '0bit/s=0 8bit/s=1 1kbit/s=125 1Mbit/s=125000 40Gbit/s=5000000000 1Tbit/s=125000000000 2.5Gbit/s=312500000',
    ['', '40', '40Gbit', '40GB/s', '40 Gbit/s', '40gbit/s', '-1bit/s', '.5Gbit/s', '1e3bit/s', '1Gbit/s\n'],
  ],
] as const;

for (const [parse, values, invalid] of PARSERS) {
  test(`${parse.name} gives the number in the smallest unit, and undefined for other texts`, () => {
    for (const [text = '', value] of values.split(' ').map((pair) => pair.split('=')))
      assert.equal(parse(text), Number(value), text);
    for (const text of invalid) assert.equal(parse(text), undefined, JSON.stringify(text));
  });
}

test('a bit rate beyond what a number holds is no bit rate', () => {
  assert.equal(parseBitRate('99999999999999999Tbit/s'), undefined);
});

test('a formatted duration parses to itself', () => {
  fc.assert(fc.property(fc.maxSafeNat(), (ms) => parseDuration(formatDuration(ms)) === ms));
});

test('a duration is formatted with the largest units that fit', () => {
  assert.deepEqual([0, 90_000, 5_400_000, 86_400_001].map(formatDuration), ['0s', '1m30s', '1h30m', '1d1ms']);
});
