import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCanonicalFloat, formatSampleValue } from '../../../src/metrics/exposition.ts';

// The examples of OpenMetrics 1.0, "Canonical Numbers".
const CANONICAL = [
  '0.0 0.001 0.002 0.01 0.1 0.9 0.95 0.99 0.999 1.0 1.7 10.0 100.0 1000.0 10000.0 100000.0 1e+06 1e+07 1e+08 1e+09 1e+10',
  '1e-10 1e-09 1e-08 1e-07 1e-06 1e-05 0.0001 86400.0 1.5e+06 1.2345678e+07 +Inf -Inf NaN -0.5',
].flatMap((line) => line.split(' '));

test('canonical floats match the specification', () => {
  const values = CANONICAL.map((text) => Number(text.replace('Inf', 'Infinity')));
  assert.deepEqual(values.map(formatCanonicalFloat), CANONICAL);
});

test('sample values are integers, shortest decimals, +Inf, -Inf or NaN', () => {
  const values = [0, -0, 15, 9007199254740991, 0.1, 1e-7, 1e21, Infinity, -Infinity, Number.NaN];
  assert.deepEqual(values.map(formatSampleValue), [
    '0',
    '0',
    '15',
    '9007199254740991',
    '0.1',
    '1e-7',
    '1e+21',
    '+Inf',
    '-Inf',
    'NaN',
  ]);
});
