import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ReadError } from '../../../src/listing/engine/read-error.ts';
import { viewListing, viewRecords } from '../../support/listing-view.ts';
import { POLLED_CODE, readInChunks } from '../../support/read-listing.ts';
import { writeJsonVariant } from '../../support/json-variants.ts';
import { isJson } from '../../support/response-oracle.ts';
import { collectValidRecords } from '../../support/listing-oracle.ts';
import { readFixture } from '../../support/fixtures.ts';
import { arbitraryListing } from '../../support/arbitrary-listing.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

const cuts = fc.array(fc.nat(), { maxLength: 12 });

const limitCuts = (offsets: readonly number[], body: Uint8Array): number[] =>
  offsets.map((offset) => offset % (body.length + 1));

test('random listings add up to what the records of the schema do, for any cuts', () => {
  fc.assert(
    fc.property(arbitraryListing, fc.infiniteStream(fc.nat()), cuts, (listing, choices, offsets) => {
      const body = Buffer.from(writeJsonVariant(listing, choices));
      const parsed = JSON.parse(body.toString()) as typeof listing;
      const expected = collectValidRecords(parsed.user_list, parsed.task_list, POLLED_CODE);
      const { listing: read, end } = readInChunks(body, limitCuts(offsets, body));
      assert.deepEqual(viewListing(read), viewRecords(expected));
      assert.equal(end.bytes, body.length);
    }),
    createRunParameters(400),
  );
});

/** The sample listing with a few bytes changed, removed or inserted. */
const damagedListing = fc
  .array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\u0e-.1 \n\0tfn\u00e9'), fc.constantFrom(0, 1, 2)), {
    minLength: 1,
    maxLength: 3,
  })
  .map((edits) => {
    let body = readFixture('sample-listing.json');
    for (const [offset, byte, removedCount] of edits) {
      const start = offset % body.length;
      body = Buffer.concat([body.subarray(0, start), Buffer.from(byte), body.subarray(start + removedCount)]);
    }
    return body;
  });

test('the reader rejects as not_json what JSON.parse rejects, at the same byte for any cuts', () => {
  fc.assert(
    fc.property(damagedListing, cuts, (body, offsets) => {
      const readOutcome = (offsetsOfCuts: readonly number[]): string => {
        try {
          readInChunks(body, offsetsOfCuts);
          return 'read';
        } catch (error) {
          assert.ok(error instanceof ReadError);
          return `${error.code}: ${error.message}`;
        }
      };
      const whole = readOutcome([]);
      assert.equal(readOutcome(limitCuts(offsets, body)), whole);
      assert.equal(whole.startsWith('not_json'), !isJson(body.toString()), whole);
    }),
    createRunParameters(1000),
  );
});
