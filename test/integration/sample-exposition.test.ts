import { test } from 'node:test';
import { readInChunks } from '../support/read-listing.ts';
import { render } from '../support/render.ts';
import { PollHistory } from '../../src/poller/poll-history.ts';
import { Store } from '../../src/poller/store.ts';
import { Tally } from '../../src/tally/tally.ts';
import { assertGolden, readFixture } from '../support/fixtures.ts';
import { assertPromtoolAccepts } from '../support/installed-programs.ts';

/** The service code after one poll that was answered with the specification's sample. */
function createSampleStore(): Store {
  const tally = new Tally({
    serviceCode: 'TESTING',
    maxLabelSets: 1000,
    stallAfterMs: 60_000,
    pollIntervalMs: 15_000,
    perTask: true,
    maxTasks: 1000,
  });
  const listing = readInChunks(readFixture('sample-listing.json'), []);
  const at = { wallMs: Date.UTC(2026, 0, 1), monotonicMs: 0 };
  const store = new Store();
  store.publish({
    serviceCode: 'TESTING',
    staleAfterMs: 45_000,
    history: new PollHistory(),
    isUp: true,
    ret: 0,
    snapshot: tally.commit(listing, at).snapshot,
  });
  return store;
}

for (const format of ['text', 'openmetrics'] as const) {
  test(`the sample listing in ${format}`, () => {
    assertGolden(
      `exposition/sample-listing.${format}.txt`,
      render(createSampleStore().collectFamilies(0), format),
    );
  });
}

test('promtool has no complaint about the sample listing', (t) => {
  assertPromtoolAccepts(t, render(createSampleStore().collectFamilies(0), 'text'));
});
