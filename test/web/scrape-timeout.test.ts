import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scrapeTimeoutMs } from '../../src/web/scrape-timeout.ts';

const HEADERS: readonly (readonly [text: string | undefined, expected: number | undefined])[] = [
  ['10', 10_000],
  ['2.5', 2500],
  ['0.001', 1],
  [undefined, undefined],
  ['', undefined],
  ['0', undefined],
  ['0.0', undefined],
  ['-1', undefined],
  ['NaN', undefined],
  ['Infinity', undefined],
  ['1e3', undefined],
  ['10s', undefined],
  ['10, 20', undefined],
  [' 10', undefined],
  ['0x10', undefined],
  ['9'.repeat(400), Number.POSITIVE_INFINITY],
];

for (const [text, expected] of HEADERS) {
  test(`a timeout of ${text === undefined ? 'nothing' : JSON.stringify(text.slice(0, 20))} is ${expected} ms`, () => {
    const headers = text === undefined ? {} : { 'x-prometheus-scrape-timeout-seconds': text };
    assert.equal(scrapeTimeoutMs(headers), expected);
  });
}
