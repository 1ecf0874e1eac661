import { test } from 'node:test';
import fc from 'fast-check';
import { arbitraryListing } from '../support/arbitrary-listing.ts';
import { writeJsonVariant } from '../support/json-variants.ts';
import { Random } from '../support/random.ts';
import { createRunParameters, RUN_MULTIPLIER, SEED } from '../support/run-parameters.ts';
import { assertMatchesOracle, DICTIONARY, LISTINGS } from './listing-mutations.ts';
import { mutateAtRandom, mutateBytes } from './mutation.ts';

const CORPUS = [...LISTINGS.values()];

const cuts = fc.array(fc.nat(), { maxLength: 8 });
const limitCuts = (offsets: readonly number[], body: Buffer): number[] =>
  offsets.map((offset) => offset % (body.length + 1));
const everySplit = (body: Buffer): number[][] => Array.from(body, (_, offset) => [offset]);

test('the reader agrees with JSON.parse and the schema on mutated listings, for any cuts', () => {
  fc.assert(
    fc.property(mutateBytes(CORPUS, DICTIONARY), cuts, (body, offsets) =>
      assertMatchesOracle(body, [limitCuts(offsets, body)]),
    ),
    createRunParameters(750),
  );
});

test('the reader agrees with JSON.parse and the schema on many more mutated listings', (t) => {
  // Most of the inputs are errors for each of the readers, and half of the time would go into their stack traces.
  const { stackTraceLimit } = Error;
  t.after(() => (Error.stackTraceLimit = stackTraceLimit));
  Error.stackTraceLimit = 0;
  const random = new Random(SEED);
  const count = 1000 * RUN_MULTIPLIER;
  for (let run = 0; run < count; run += 1) {
    const body = mutateAtRandom(CORPUS, DICTIONARY, random);
    const offsets = Array.from({ length: random.integer(4) }, () => random.integer(body.length + 1));
    try {
      assertMatchesOracle(body, [offsets]);
    } catch (cause) {
      throw new Error(`Expected agreement on ${JSON.stringify(body.toString('latin1'))}`, { cause });
    }
  }
});

test('the reader agrees with JSON.parse and the schema on random listings, for any cuts', () => {
  fc.assert(
    fc.property(arbitraryListing, fc.infiniteStream(fc.nat()), cuts, (listing, choices, offsets) => {
      const body = Buffer.from(writeJsonVariant(listing, choices));
      assertMatchesOracle(body, [limitCuts(offsets, body)]);
    }),
    createRunParameters(100),
  );
});

test('the reader agrees with the oracle at every single cut and byte by byte', () => {
  const short = CORPUS.filter(({ length }) => length < 1500);
  fc.assert(
    fc.property(mutateBytes(short, DICTIONARY), (body) =>
      assertMatchesOracle(body, [...everySplit(body), [...body.keys()]]),
    ),
    createRunParameters(8),
  );
});

for (const [name, body] of LISTINGS) {
  test(`${name}, complete and cut at every byte`, () => {
    assertMatchesOracle(
      body,
      body.length < 4000 ? [...everySplit(body), [...body.keys()]] : [[...body.keys()]],
    );
  });
}
