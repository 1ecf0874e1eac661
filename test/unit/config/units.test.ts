import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseBitRate, parseDuration, parseSize } from '../../../src/config/units.ts';

const durations: readonly (readonly [string, number | undefined])[] = [
  ['0', 0],
  ['0s', 0],
  ['500ms', 500],
  ['15s', 15_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['1d', 86_400_000],
  ['1h30m', 5_400_000],
  ['1d2h3m4s5ms', 93_784_005],
  ['90m', 5_400_000],
  ['', undefined],
  ['15', undefined],
  ['abc', undefined],
  ['1.5s', undefined],
  ['-1s', undefined],
  ['1s1m', undefined],
  ['1s1s', undefined],
  ['1 s', undefined],
  [' 1s', undefined],
  ['1s\n', undefined],
  ['1S', undefined],
  ['99999999999999999d', undefined],
];

for (const [text, expected] of durations) {
  test(`${JSON.stringify(text)} is ${expected === undefined ? 'not a duration' : `${expected} ms`}`, () => {
    assert.equal(parseDuration(text), expected);
  });
}

const sizes: readonly (readonly [string, number | undefined])[] = [
  ['0', 0],
  ['1024', 1024],
  ['1B', 1],
  ['64KiB', 65_536],
  ['256MiB', 268_435_456],
  ['1GiB', 1_073_741_824],
  ['1KB', 1000],
  ['1MB', 1_000_000],
  ['1GB', 1_000_000_000],
  ['', undefined],
  ['KiB', undefined],
  ['1.5GiB', undefined],
  ['-1', undefined],
  ['1kib', undefined],
  ['1 GiB', undefined],
  ['1e3', undefined],
  ['99999999999999GiB', undefined],
];

for (const [text, expected] of sizes) {
  test(`${JSON.stringify(text)} is ${expected === undefined ? 'not a size' : `${expected} bytes`}`, () => {
    assert.equal(parseSize(text), expected);
  });
}

test('a formatted duration parses to itself', () => {
  fc.assert(fc.property(fc.maxSafeNat(), (ms) => parseDuration(formatDuration(ms)) === ms));
});

test('a duration is formatted with the largest units that fit', () => {
  assert.deepEqual([0, 90_000, 5_400_000, 86_400_001].map(formatDuration), ['0s', '1m30s', '1h30m', '1d1ms']);
});

const bitRates: readonly (readonly [string, number | undefined])[] = [
  ['0bit/s', 0],
  ['8bit/s', 1],
  ['1kbit/s', 125],
  ['1Mbit/s', 125_000],
  ['40Gbit/s', 5e9],
  ['400Gbit/s', 5e10],
  ['1Tbit/s', 1.25e11],
  ['2.5Gbit/s', 312_500_000],
  ['', undefined],
  ['40', undefined],
  ['40Gbit', undefined],
  ['40GB/s', undefined],
  ['40 Gbit/s', undefined],
  ['40gbit/s', undefined],
  ['-1bit/s', undefined],
  ['.5Gbit/s', undefined],
  ['1e3bit/s', undefined],
  ['1Gbit/s\n', undefined],
  ['99999999999999999Tbit/s', undefined],
];

for (const [text, expected] of bitRates) {
  test(`${JSON.stringify(text)} is ${expected === undefined ? 'not a bit rate' : `${expected} bytes per second`}`, () => {
    assert.equal(parseBitRate(text), expected);
  });
}
