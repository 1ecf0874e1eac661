import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ListingError } from '../../src/listing/errors.ts';
import { readCut, type CollectingSink } from '../support/collecting-sink.ts';
import { jsonTextOf } from '../support/json-text.ts';
import { judge } from '../support/listing-oracle.ts';
import { fixture } from '../support/fixtures.ts';
import { wildListing } from '../support/wild-listing.ts';

const cuts = fc.array(fc.nat(), { maxLength: 12 });

/** Cuts within the body, whatever its length. */
const within = (offsets: readonly number[], body: Uint8Array): number[] =>
  offsets.map((offset) => offset % (body.length + 1));

const collected = (sink: CollectingSink): object => ({
  users: sink.users,
  tasks: sink.tasks,
  invalid: sink.left.map(([record]) => record).toSorted(),
});

test('the verdict on every record is that of the schema, over random listings and cuts', () => {
  fc.assert(
    fc.property(wildListing, fc.infiniteStream(fc.nat()), cuts, (listing, choices, offsets) => {
      const body = Buffer.from(jsonTextOf(listing, choices));
      const parsed = JSON.parse(body.toString()) as typeof listing;
      const wanted = judge(parsed.user_list, parsed.task_list);
      const { sink, end } = readCut(body, within(offsets, body));
      assert.deepEqual(collected(sink), { ...wanted, invalid: wanted.invalid.toSorted() });
      assert.equal(end.bytes, body.length);
    }),
    { numRuns: 400 },
  );
});

/** The listing's sample with a few bytes changed, removed or put in. */
const damaged = fc
  .array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\u0e-.1 \n\0tfn\u00e9'), fc.constantFrom(0, 1, 2)), {
    minLength: 1,
    maxLength: 3,
  })
  .map((edits) => {
    let body = fixture('sample-listing.json');
    for (const [offset, byte, removed] of edits) {
      const at = offset % body.length;
      body = Buffer.concat([body.subarray(0, at), Buffer.from(byte), body.subarray(at + removed)]);
    }
    return body;
  });

test('what is not JSON is refused exactly where JSON.parse refuses it, and at the same byte however it is cut', () => {
  fc.assert(
    fc.property(damaged, cuts, (body, offsets) => {
      const outcome = (offsetsOfCuts: readonly number[]): string => {
        try {
          readCut(body, offsetsOfCuts);
          return 'read';
        } catch (error) {
          assert.ok(error instanceof ListingError);
          return `${error.code}: ${error.message}`;
        }
      };
      const whole = outcome([]);
      assert.equal(outcome(within(offsets, body)), whole);
      assert.equal(whole.startsWith('not_json'), !isJson(body.toString()), whole);
    }),
    { numRuns: 1000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
