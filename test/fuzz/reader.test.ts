import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { ListingError } from '../../src/listing/errors.ts';
import { verdictOf } from '../support/answer-oracle.ts';
import { readCut } from '../support/collecting-sink.ts';
import { fixture, fixturePath } from '../support/fixtures.ts';
import { jsonTextOf } from '../support/json-text.ts';
import { wildListing } from '../support/wild-listing.ts';
import { mutated } from './mutation.ts';
import { runs } from './runs.ts';

const LISTINGS = readdirSync(fixturePath('fuzz/listings')).map((name) => `fuzz/listings/${name}`);
const CORPUS = ['sample-listing.json', ...LISTINGS].map(fixture);

/** What listings are made of, and what they should not be. */
const DICTIONARY = [
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
  ['"http_output_bytes":5', '"http_connections_num":0.5', '"client_version":451', '"device_type":"10"'],
  ['[[[[[[[[', ']]]]]]]]', '{"a":', '/*', 'NaN', 'Infinity', "'"],
].flat();

/** What the reader makes of a body, in the words of the oracle, and at which byte it gave up. */
function outcomeOf(
  body: Buffer,
  cuts: readonly number[],
): { readonly kind: string; readonly detail: unknown } {
  try {
    const { sink, end } = readCut(body, cuts);
    assert.equal(end.bytes, body.length);
    if (end.ret !== 0) return { kind: 'refusal', detail: end.ret };
    const invalid = sink.left.map(([record]) => record).toSorted();
    return { kind: 'listing', detail: { users: sink.users, tasks: sink.tasks, invalid } };
  } catch (error) {
    if (!(error instanceof ListingError)) throw error;
    return { kind: error.code, detail: error.message };
  }
}

function check(body: Buffer, cuts: readonly (readonly number[])[]): void {
  const verdict = verdictOf(body);
  const whole = outcomeOf(body, []);
  assert.equal(whole.kind, verdict.kind, String(whole.detail));
  if (verdict.kind === 'refusal') assert.equal(whole.detail, verdict.ret);
  if (verdict.kind === 'listing') {
    const { invalid } = verdict.records;
    assert.deepEqual(whole.detail, { ...verdict.records, invalid: invalid.toSorted() });
  }
  for (const cut of cuts) assert.deepEqual(outcomeOf(body, cut), whole, `cut at ${cut.join()}`);
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });
const within = (offsets: readonly number[], body: Buffer): number[] =>
  offsets.map((offset) => offset % (body.length + 1));
const everySplit = (body: Buffer): number[][] => Array.from(body, (_, at) => [at]);

test('of listings with some bytes changed, the verdict is that of JSON.parse and the schema, however they are cut', () => {
  fc.assert(
    fc.property(mutated(CORPUS, DICTIONARY), cuts, (body, offsets) => check(body, [within(offsets, body)])),
    runs(6000),
  );
});

test('of the nastiest listings likewise', () => {
  fc.assert(
    fc.property(wildListing, fc.infiniteStream(fc.nat()), cuts, (listing, choices, offsets) => {
      const body = Buffer.from(jsonTextOf(listing, choices));
      check(body, [within(offsets, body)]);
    }),
    runs(800),
  );
});

test('of some of them, cut in two at every byte, and cut into single bytes', () => {
  const short = CORPUS.filter(({ length }) => length < 1500);
  fc.assert(
    fc.property(mutated(short, DICTIONARY), (body) => check(body, [...everySplit(body), [...body.keys()]])),
    runs(60),
  );
});

for (const [index, body] of CORPUS.entries()) {
  test(`${['the sample', ...LISTINGS][index]}, whole and cut at every byte`, () => {
    check(body, body.length < 4000 ? [...everySplit(body), [...body.keys()]] : [[...body.keys()]]);
  });
}
