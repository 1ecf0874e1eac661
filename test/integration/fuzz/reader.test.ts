import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { ReadError } from '../../../src/json-columns/read-error.ts';
import { computeExpectedOutcome } from '../../support/response-oracle.ts';
import { viewListing } from '../../support/listing-view.ts';
import { readBody } from '../../support/read-listing.ts';
import { readFixture, fixturePath } from '../../support/fixtures.ts';
import { writeJsonVariant } from '../../support/json-variants.ts';
import { arbitraryListing } from '../../support/arbitrary-listing.ts';
import { mutateBytes } from './mutation.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

const LISTINGS = readdirSync(fixturePath('fuzz/listings')).map((name) => `fuzz/listings/${name}`);
const CORPUS = ['sample-listing.json', ...LISTINGS].map(readFixture);

/** Valid and invalid fragments of listings. */
const DICTIONARY = [
  [...'{}[]",:\\-+.eE0123456789 \n\t\0'],
  'true false null 1e5 -0 0.0 1E400 9007199254740992 9007199254740991 01 1. .5 NaN Infinity'.split(' '),
  ['\\u0000', '\\ud83d', '\\ude00', '\\u00', '\\"', '\\\\', '\\/', '\\x', '\u00e9', '\u{1f600}', '\ufeff'],
  ['"ret":0', '"ret":1', '"ret":"0"', '"user_list":[]', '"task_list":[]', '"\\u0072et":0'],
  ['"id":"t"', '"id":""', '"inputs":[]', '"outputs":[]', '"streams":[]', '"vs_id":null', '"input_bytes":-1'],
  ['"progress":0.42', '"inputs":null', '"outputs":7', '"serial":18446744073709551615', '"opaque":42'],
  ['"service_code":"TESTING"', '"service_code":"OTHER"', '"service_code":5', '"device_version":""'],
  ['"http_output_bytes":5', '"http_connections_num":0.5', '"client_version":451', '"device_type":"10"'],
  ['"url":""', ' '.repeat(15), '\n\t\r '.repeat(9), '\v', '\f', '\u00a0'],
  ['"region":"r"', '"region" : {}', `"${'k'.repeat(29)}":1`, `"${'k'.repeat(30)}":[]`, '"\\u0069d":"t"'],
  ['[[[[[[[[', ']]]]]]]]', '{"a":', '/*', "'"],
].flat();

/** Returns a reader's result in the form of the oracle's. */
function readOutcome(
  body: Buffer,
  cuts: readonly number[],
): { readonly kind: string; readonly detail: unknown } {
  try {
    const { listing, ret } = readBody(body, cuts);
    if (listing === undefined) return { kind: 'refusal', detail: ret };
    return { kind: 'listing', detail: viewListing(listing) };
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return { kind: error.code, detail: error.message };
  }
}

function assertMatchesOracle(body: Buffer, cuts: readonly (readonly number[])[]): void {
  const expected = computeExpectedOutcome(body);
  const whole = readOutcome(body, []);
  assert.equal(whole.kind, expected.kind, String(whole.detail));
  if (expected.kind === 'refusal') assert.equal(whole.detail, expected.ret);
  if (expected.kind === 'listing') assert.deepEqual(whole.detail, viewListing(expected.listing));
  for (const cut of cuts) assert.deepEqual(readOutcome(body, cut), whole, `cut at ${cut.join()}`);
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });
const limitCuts = (offsets: readonly number[], body: Buffer): number[] =>
  offsets.map((offset) => offset % (body.length + 1));
const everySplit = (body: Buffer): number[][] => Array.from(body, (_, offset) => [offset]);

test('the reader agrees with JSON.parse and the schema on mutated listings, for any cuts', (t) => {
  // Most of these inputs are errors for each of the readers, and much of the time would go into their stack
  // traces.
  const { stackTraceLimit } = Error;
  t.after(() => (Error.stackTraceLimit = stackTraceLimit));
  Error.stackTraceLimit = 0;
  fc.assert(
    fc.property(mutateBytes(CORPUS, DICTIONARY), cuts, (body, offsets) =>
      assertMatchesOracle(body, [limitCuts(offsets, body)]),
    ),
    createRunParameters(2000),
  );
});

test('the reader agrees with JSON.parse and the schema on random listings, for any cuts', () => {
  fc.assert(
    fc.property(arbitraryListing, fc.infiniteStream(fc.nat()), cuts, (listing, choices, offsets) => {
      const body = Buffer.from(writeJsonVariant(listing, choices));
      assertMatchesOracle(body, [limitCuts(offsets, body)]);
    }),
    createRunParameters(400),
  );
});

for (const [index, body] of CORPUS.entries()) {
  test(`${['the sample', ...LISTINGS][index]}, complete and cut at every byte`, () => {
    assertMatchesOracle(
      body,
      body.length < 4000 ? [...everySplit(body), [...body.keys()]] : [[...body.keys()]],
    );
  });
}
