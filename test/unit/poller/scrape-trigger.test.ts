import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  computeScrapeWaitMs,
  ScrapeTrigger,
  type ScrapeRequest,
} from '../../../src/poller/scrape-trigger.ts';
import { advanceClock, ManualClock, SuspendableClock } from '../../support/manual-clock.ts';
import { START_MS } from '../../support/tally-run.ts';
import { createPolledCode, createRig, RESET } from './rig.ts';
import { createListingBody } from '../../support/manual-client.ts';

const LIMITS = { minAgeMs: 5000, maxConcurrentPolls: 64 };

/** Creates a started poller whose polls are triggered by `scrape`. */
function setUp(
  t: TestContext,
  serviceCodes: readonly string[],
  limits: Partial<typeof LIMITS> = {},
  clock = new ManualClock(START_MS),
) {
  const scrapeTrigger = new ScrapeTrigger(clock, { ...LIMITS, ...limits });
  const rig = createRig(t, serviceCodes, { clock, trigger: scrapeTrigger.attach });
  rig.start();
  const scrape = (request: ScrapeRequest = {}) => {
    const scraping = { isOver: false, ended: scrapeTrigger.refresh(request) };
    scraping.ended = scraping.ended.finally(() => {
      scraping.isOver = true;
    });
    return scraping;
  };
  return { ...rig, scrapeTrigger, scrape };
}

/** Lists the requested service codes in order. */
const listRequested = ({ client }: ReturnType<typeof setUp>): string =>
  client.requests.map(({ target }) => target.serviceCode).join('');

test('without a scrape nothing is polled', async (t) => {
  const { clock, client, poller } = setUp(t, ['A', 'B']);
  await advanceClock(clock, 3_600_000);
  assert.equal(client.requests.length, 0);
  assert.equal(poller.checkHealth(), true);
});

test('a scrape polls all service codes concurrently, and is over when their polls have ended', async (t) => {
  const all = setUp(t, ['A', 'B']);
  const { client, store, scrape } = all;
  const scraping = scrape();
  await nextTurn();
  assert.equal(listRequested(all), 'AB');
  await client.requests[0]?.respond(createListingBody(0));
  assert.equal(scraping.isOver, false);
  await client.requests[1]?.fail(RESET);
  await scraping.ended;
  assert.deepEqual([store.get('A')?.isUp, store.get('B')?.isUp], [true, false]);
});

test('a scrape of an unknown service code polls nothing and does not wait', async (t) => {
  const all = setUp(t, ['A', 'B']);
  await all.scrape({ serviceCode: 'X' }).ended;
  assert.equal(listRequested(all), '');
});

/** Duration of the first poll, time from its start to the second scrape, and whether that polls. */
const AGES: readonly (readonly [durationMs: number, ageMs: number, minAgeMs: number, polls: boolean])[] = [
  [0, 4999, 5000, false],
  [0, 5000, 5000, true],
  [4000, 4999, 5000, false],
  [4000, 5000, 5000, true],
  [6000, 6000, 5000, true],
  [0, 0, 0, true],
];

for (const [durationMs, ageMs, minAgeMs, polls] of AGES) {
  const name = `${ageMs} ms after the start of a poll of ${durationMs} ms, with min_age ${minAgeMs} ms`;
  test(`${name}, a scrape ${polls ? 'polls' : 'does not poll'}`, async (t) => {
    const { clock, client, scrape } = setUp(t, ['A'], { minAgeMs });
    const first = scrape();
    await nextTurn();
    await advanceClock(clock, durationMs);
    await client.latest.respond(createListingBody(0));
    await first.ended;
    await advanceClock(clock, ageMs - durationMs);
    const second = scrape();
    await nextTurn();
    assert.deepEqual([client.requests.length, second.isOver], [polls ? 2 : 1, !polls]);
    if (polls) await client.latest.respond(createListingBody(0));
    await second.ended;
  });
}

test('scrapes share a running poll, and each starts its other polls', async (t) => {
  const all = setUp(t, ['A', 'B']);
  const { clock, client, scrape } = all;
  const one = scrape({ serviceCode: 'A' });
  await nextTurn();
  await advanceClock(clock, 6000);
  const other = scrape();
  await nextTurn();
  assert.equal(listRequested(all), 'AB');
  await client.requests[0]?.respond(createListingBody(0));
  await one.ended;
  assert.equal(other.isOver, false);
  await client.requests[1]?.respond(createListingBody(0));
  await other.ended;
});

test('a scrape waits until its timeout for a hanging poll, which the next scrape shares', async (t) => {
  const { clock, client, store, scrape } = setUp(t, ['A']);
  const first = scrape({ timeoutMs: 2000 });
  await advanceClock(clock, 1499);
  assert.equal(first.isOver, false);
  await advanceClock(clock, 1);
  await first.ended;
  assert.deepEqual([store.get('A')?.isUp, client.latest.signal.aborted], [undefined, false]);

  const second = scrape({ timeoutMs: 2000 });
  await nextTurn();
  assert.equal(client.requests.length, 1);
  await client.latest.respond(createListingBody(7));
  await second.ended;
  assert.equal(store.get('A')?.isUp, true);
});

test('a scrape without a timeout waits for the longest deadline of its polls', async (t) => {
  const { clock, poller, scrape } = setUp(t, []);
  await poller.apply([
    createPolledCode('A', { timeoutMs: 1000 }),
    createPolledCode('B', { timeoutMs: 3000 }),
  ]);
  const scraping = scrape();
  await advanceClock(clock, 2999);
  assert.equal(scraping.isOver, false);
  await advanceClock(clock, 1);
  await scraping.ended;
});

test('an aborted scrape stops waiting, and the poll continues', async (t) => {
  const { clock, client, store, scrape } = setUp(t, ['A']);
  const abort = new AbortController();
  const aborted = scrape({ signal: abort.signal });
  const waiting = scrape();
  await nextTurn();
  abort.abort();
  await assert.rejects(aborted.ended, { name: 'AbortError' });
  assert.deepEqual([waiting.isOver, client.latest.signal.aborted], [false, false]);
  await client.latest.respond(createListingBody(0));
  await waiting.ended;
  assert.equal(store.get('A')?.isUp, true);
  const late = scrape({ signal: AbortSignal.abort() });
  await assert.rejects(late.ended, { name: 'AbortError' });
  assert.deepEqual([client.requests.length, clock.sleeperCount], [1, 0]);
});

test('scrapes do not poll a service that asked for a pause, and count the skipped polls', async (t) => {
  const { clock, client, scrape, count } = setUp(t, ['A']);
  const first = scrape();
  await nextTurn();
  await client.latest.respond('', { status: 503, retryAfterMs: 30_001 });
  await first.ended;
  for (const skipped of [1, 2]) {
    await advanceClock(clock, 15_000);
    await scrape().ended;
    assert.deepEqual([client.requests.length, await count('pollsSkipped')], [1, skipped]);
  }
  // Within min_age of the last scrape, so it would not have polled anyway.
  await advanceClock(clock, 0);
  await scrape().ended;
  assert.equal(await count('pollsSkipped'), 2);
  await advanceClock(clock, 15_000);
  const last = scrape();
  await nextTurn();
  assert.equal(client.requests.length, 2);
  await client.latest.respond(createListingBody(0));
  await last.ended;
  assert.equal(await count('pollsSkipped'), 2);
});

test('concurrent polls of one address are limited; the others run in order, even without a waiting scrape', async (t) => {
  const codes = Array.from({ length: 1000 }, (_, index) => `CODE_${index}`);
  const { clock, client, store, scrape, scrapeTrigger } = setUp(t, codes, { maxConcurrentPolls: 64 });
  const first = scrape({ timeoutMs: 1500 });
  await nextTurn();
  assert.equal(client.requests.length, 64);
  await advanceClock(clock, 1000);
  await first.ended;
  const second = scrape();
  for (let responses = 0; responses < codes.length; responses += 1) {
    assert.equal(client.requests.length, Math.min(codes.length, responses + 64));
    assert.equal(second.isOver, false);
    await client.requests[responses]?.respond(createListingBody(0));
  }
  await second.ended;
  assert.ok(store.states.every(({ isUp }) => isUp === true));
  scrapeTrigger.configure({ ...LIMITS, maxConcurrentPolls: 100 });
  await advanceClock(clock, 15_000);
  const third = scrape({ timeoutMs: 1000 });
  await nextTurn();
  assert.equal(client.requests.length, codes.length + 100);
  await advanceClock(clock, 500);
  await third.ended;
});

test('a hanging service does not delay polls of another address', async (t) => {
  const { clock, client, store, poller, scrape } = setUp(t, [], { maxConcurrentPolls: 1 });
  const urls = { A: 'http://one/a', B: 'http://one/b', C: 'http://two' };
  await poller.apply(Object.entries(urls).map(([code, baseUrl]) => createPolledCode(code, { baseUrl })));
  const scraping = scrape({ timeoutMs: 2000 });
  await nextTurn();
  assert.equal(client.latest.target.serviceCode, 'C');
  await client.latest.respond(createListingBody(0));
  await advanceClock(clock, 1500);
  await scraping.ended;
  assert.deepEqual(
    [store.get('A')?.isUp, store.get('B')?.isUp, store.get('C')?.isUp],
    [undefined, undefined, true],
  );
});

test('disposal ends waiting scrapes, and running and queued polls', async (t) => {
  const { client, store, poller, scrape } = setUp(t, ['A', 'B'], { maxConcurrentPolls: 1 });
  const scraping = scrape();
  await nextTurn();
  await poller[Symbol.asyncDispose]();
  await scraping.ended;
  assert.deepEqual([client.requests.length, client.latest.signal.aborted], [1, true]);
  await scrape().ended;
  assert.equal(client.requests.length, 1);
  assert.deepEqual([store.get('A')?.isUp, store.get('B')?.isUp], [undefined, undefined]);
});

test('a waiting scrape does not wait for codes that are removed or changed meanwhile', async (t) => {
  const all = setUp(t, ['A', 'B', 'C']);
  const { client, store, poller, scrape } = all;
  const scraping = scrape();
  await nextTurn();
  const [a, b, c] = client.requests;
  await poller.apply([
    createPolledCode('B', { secret: 'new' }),
    createPolledCode('C'),
    createPolledCode('D'),
  ]);
  assert.deepEqual([a?.signal.aborted, b?.signal.aborted, c?.signal.aborted], [true, true, false]);
  assert.equal(scraping.isOver, false);
  await c?.respond(createListingBody(0));
  await scraping.ended;
  assert.deepEqual(
    store.states.map(({ serviceCode, isUp }) => [serviceCode, isUp]),
    [
      ['B', undefined],
      ['C', true],
      ['D', undefined],
    ],
  );
  // The next scrape polls added and changed codes, but not `C`, which is within min_age.
  const next = scrape();
  await nextTurn();
  assert.equal(listRequested(all), 'ABCBD');
  assert.equal(client.requests[3]?.target.secret, 'new');
  for (const request of client.requests.slice(3)) await request.respond(createListingBody(0));
  await next.ended;
});

test('an internal error rejects the promise of start, and no scrape keeps waiting', async (t) => {
  const clock = new ManualClock(START_MS);
  const scrapeTrigger = new ScrapeTrigger(clock, LIMITS);
  const { client, poller } = createRig(t, ['A'], { clock, trigger: scrapeTrigger.attach });
  const internalError = new TypeError('Expected a function');
  const failed = assert.rejects(poller.start(), internalError);
  const scraping = scrapeTrigger.refresh({});
  await nextTurn();
  await client.latest.fail(internalError);
  await failed;
  await scraping;
});

test('a poll that hangs beyond its deadline is stuck; a queued poll and a code without a scrape are not', async (t) => {
  const clock = new SuspendableClock(START_MS);
  const { client, poller, lines, scrape } = setUp(t, ['A', 'B'], { maxConcurrentPolls: 1 }, clock);
  void scrape();
  await nextTurn();
  clock.suspend(60_000);
  assert.equal(poller.checkHealth(), true);
  clock.suspend(1);
  assert.equal(poller.checkHealth(), false);
  assert.deepEqual(lines.at(-1)?.['service_codes'], ['A']);
  clock.resume();
  await client.latest.respond(createListingBody(0));
  assert.equal(poller.checkHealth(), true);
  await client.latest.respond(createListingBody(0));
  await advanceClock(clock, 3_600_000);
  assert.equal(poller.checkHealth(), true);
});

for (const [name, timeoutMs, longestPollMs, expected] of [
  ['a timeout of 10 s', 10_000, 10_000, 9500],
  ['a timeout of 1 s, twice the margin', 1000, 10_000, 500],
  ['a timeout of 600 ms, slightly more than the margin', 600, 10_000, 300],
  ['a timeout of 1 ms', 1, 10_000, 0.5],
  ['a timeout of a year', 31_536_000_000, 10_000, 50_000],
  ['no timeout, but polls of 10 s,', undefined, 10_000, 10_000],
  ['no timeout, but polls of an hour,', undefined, 3_600_000, 50_000],
] as const) {
  test(`a scrape with ${name} waits ${expected} ms for its polls`, () => {
    assert.equal(computeScrapeWaitMs(timeoutMs, longestPollMs), expected);
  });
}
