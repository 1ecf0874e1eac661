import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { ListingError } from '../../src/listing/listing-error.ts';
import { fixturePath, readFixture } from '../support/fixtures.ts';
import { viewListing, viewRecords } from '../support/listing-view.ts';
import { readInChunks, readWithOracle } from '../support/read-listing.ts';
import { computeExpectedOutcome } from '../support/response-oracle.ts';

/** The listings that tests mutate, by name. */
export const LISTINGS: ReadonlyMap<string, Buffer> = new Map(
  [
    'sample-listing.json',
    ...readdirSync(fixturePath('fuzz/listings')).map((name) => `fuzz/listings/${name}`),
  ].map((name) => [name, readFixture(name)]),
);

/** Valid and invalid fragments of listings. */
export const DICTIONARY: readonly string[] = [
  [...'{}[]",:\\-+.eE0123456789 \n\t\0'],
  [
    'true',
    'false',
    'null',
    '1e5',
    '-0',
    '0.0',
    '1E400',
    '9007199254740992',
    '9007199254740991',
    '01',
    '1.',
    '.5',
  ],
  ['\\u0000', '\\ud83d', '\\ude00', '\\u00', '\\"', '\\\\', '\\/', '\\x', '\u00e9', '\u{1f600}', '\ufeff'],
  ['"ret":0', '"ret":1', '"ret":"0"', '"user_list":[]', '"task_list":[]', '"\\u0072et":0'],
  ['"id":"t"', '"id":""', '"inputs":[]', '"outputs":[]', '"streams":[]', '"vs_id":null', '"input_bytes":-1'],
  ['"progress":0.42', '"inputs":null', '"outputs":7', '"serial":18446744073709551615', '"opaque":42'],
  [
    '"service_code":"TESTING"',
    '"service_code":"OTHER"',
    '"service_code":5',
    '"device_version":""',
    '"url":""',
  ],
  ['"http_output_bytes":5', '"http_connections_num":0.5', '"client_version":451', '"device_type":"10"'],
  [' '.repeat(15), '\n\t\r '.repeat(9), '\v', '\f', '\u00a0'],
  ['"region":"r"', '"region" : {}', `"${'k'.repeat(29)}":1`, `"${'k'.repeat(30)}":[]`, '"\\u0069d":"t"'],
  ['[[[[[[[[', ']]]]]]]]', '{"a":', '/*', 'NaN', 'Infinity', "'"],
].flat();

/** Returns a reader's result in the form of the oracle's. */
function readOutcome(
  body: Buffer,
  cuts: readonly number[],
  read: typeof readInChunks | typeof readWithOracle = readInChunks,
): { readonly kind: string; readonly detail: unknown } {
  try {
    const { listing, end } = read(body, cuts);
    assert.equal(end.bytes, body.length);
    if (end.ret !== 0) return { kind: 'refusal', detail: end.ret };
    return { kind: 'listing', detail: viewListing(listing) };
  } catch (error) {
    if (!(error instanceof ListingError)) throw error;
    return { kind: error.code, detail: error.message };
  }
}

/** Compares the reader, for a body as a whole and at each list of cuts, with the schema and with the frozen reader. */
export function assertMatchesOracle(body: Buffer, cuts: readonly (readonly number[])[]): void {
  const expected = computeExpectedOutcome(body);
  const whole = readOutcome(body, []);
  assert.equal(whole.kind, expected.kind, String(whole.detail));
  if (expected.kind === 'refusal') assert.equal(whole.detail, expected.ret);
  if (expected.kind === 'listing') assert.deepEqual(whole.detail, viewRecords(expected.records));
  assert.deepEqual(whole, readOutcome(body, [], readWithOracle), 'the frozen reader');
  for (const cut of cuts) assert.deepEqual(readOutcome(body, cut), whole, `cut at ${cut.join()}`);
}
