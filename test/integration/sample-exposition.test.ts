import { test } from 'node:test';
import { PollHistory } from '../../src/poller/poll-history.ts';
import { NO_POLLS } from '../../src/poller/poll-metrics.ts';
import { Store } from '../../src/poller/store.ts';
import { assertGolden, readFixture } from '../support/fixtures.ts';
import { POLLED_CODE, readInChunks } from '../support/read-listing.ts';
import { render } from '../support/render.ts';
import { START_MS, STEP_MS, TallyRun } from '../support/tally-run.ts';

const listing = readInChunks(readFixture('sample-listing.json'), []);
const { tally } = new TallyRun({ serviceCode: POLLED_CODE, perTask: true });
const at = { wallMs: START_MS, monotonicMs: 0 };
const { snapshot } = tally.commit(listing, at);
const times = { intervalMs: STEP_MS, listedMs: 0, staleAfterMs: 3 * STEP_MS };
const state = { serviceCode: POLLED_CODE, ...times, polls: NO_POLLS, history: new PollHistory(), labels: {} };
const store = new Store();
store.publish({ ...state, lastPoll: { atMs: 0, durationMs: 0 }, ret: 0, snapshot });

for (const format of ['text', 'openmetrics'] as const) {
  test(`the sample listing in ${format}, with the totals of new counters`, () => {
    const families = store.collectFamilies(at, undefined, 'total');
    assertGolden(`exposition/sample-listing.${format}.txt`, render(families, format));
  });
}
