import { test } from 'node:test';
import { assertGolden, readFixture } from '../support/fixtures.ts';
import { assertPromtoolAccepts } from '../support/installed-programs.ts';
import { ListingRun } from '../support/listing-run.ts';

const run = new ListingRun();
run.publish(readFixture('sample-listing.json'));

for (const format of ['text', 'openmetrics'] as const) {
  test(`the sample listing in ${format}`, () => {
    assertGolden(`exposition/sample-listing.${format}.txt`, run.render(format));
  });
}

test('promtool has no complaint about the sample listing', (t) => {
  assertPromtoolAccepts(t, run.render());
});
