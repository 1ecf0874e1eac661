import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ScrapeDrivenPolls, type Scrape } from '../../src/poller/scrape-driven.ts';
import { UpstreamError } from '../../src/upstream/errors.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SuspendableClock } from '../support/suspendable-clock.ts';
import { START_MS } from '../support/tally-run.ts';
import { codeFor, setUp as setUpPoller } from './held-poller.ts';
import { listingBody, pass, TARGET } from './polling.ts';

const LIMITS = { minAgeMs: 5000, maxPolls: 64 };
const POLL_TIMEOUT_MS = TARGET.timeoutMs;
const reset = new UpstreamError('reset', 'The connection to the service broke');

/** Service codes that scrapes poll; a scrape that is under way tells when it is over. */
function setUp(
  t: TestContext,
  serviceCodes: readonly string[],
  limits: Partial<typeof LIMITS> = {},
  clock = new ManualClock(START_MS),
) {
  const scrapeDriven = new ScrapeDrivenPolls(clock, { ...LIMITS, ...limits });
  const all = setUpPoller(t, serviceCodes, clock, scrapeDriven.drive);
  all.start();
  const scrape = (wish: Scrape = {}) => {
    const scraping = { isOver: false, ended: scrapeDriven.refresh(wish) };
    scraping.ended = scraping.ended.finally(() => {
      scraping.isOver = true;
    });
    return scraping;
  };
  const skipped = async (serviceCode: string): Promise<readonly unknown[]> => {
    const families = await all.self.collect(new Set([serviceCode]));
    const family = families.find(({ spec }) => spec.name === 'xvs_exporter_polls_skipped_total');
    return [...(family?.samples ?? [])].map((sample) => 'value' in sample && sample.value);
  };
  return { ...all, scrapeDriven, scrape, skipped };
}

/** Which service codes were asked for, in order. */
const askedFor = ({ client }: ReturnType<typeof setUp>): string =>
  client.requests.map(({ target }) => target.serviceCode).join('');

test('without a scrape nothing is polled, however long', async (t) => {
  const { clock, client, poller } = setUp(t, ['A', 'B']);
  await pass(clock, 3_600_000);
  assert.equal(client.requests.length, 0);
  assert.deepEqual(poller.standingStill(clock.monotonic()), []);
});

test('a scrape polls all service codes at once, and is over when their polls are', async (t) => {
  const all = setUp(t, ['A', 'B']);
  const { client, store, scrape } = all;
  const scraping = scrape();
  await nextTurn();
  assert.equal(askedFor(all), 'AB');
  await client.requests[0]?.answer(listingBody(0));
  assert.equal(scraping.isOver, false);
  await client.requests[1]?.fail(reset);
  await scraping.ended;
  assert.deepEqual([store.get('A')?.isUp, store.get('B')?.isUp], [true, false]);
});

test('a scrape of the process itself polls nothing, and waits for nothing', async (t) => {
  const all = setUp(t, ['A', 'B']);
  await all.scrape({ selection: 'exporter' }).ended;
  assert.equal(askedFor(all), '');
});

test('a scrape that is narrowed polls what it asks for alone; a code that nobody knows is nothing to it', async (t) => {
  const all = setUp(t, ['A', 'B']);
  const scraping = all.scrape({ selection: new Set(['B', 'X']) });
  await nextTurn();
  assert.equal(askedFor(all), 'B');
  await all.client.latest.answer(listingBody(0));
  await scraping.ended;
});

/** How long after the beginning of the last poll, which took so long, a scrape comes; whether it polls. */
const AGES: readonly (readonly [tookMs: number, ageMs: number, minAgeMs: number, polls: boolean])[] = [
  [0, 4999, 5000, false],
  [0, 5000, 5000, true],
  [4000, 4999, 5000, false],
  [4000, 5000, 5000, true],
  [6000, 6000, 5000, true],
  [0, 0, 0, true],
];

for (const [tookMs, ageMs, minAgeMs, polls] of AGES) {
  const name = `${ageMs} ms after the beginning of a poll of ${tookMs} ms, with min_age ${minAgeMs} ms`;
  test(`${name}, a scrape ${polls ? 'polls' : 'does not poll'}`, async (t) => {
    const { clock, client, scrape } = setUp(t, ['A'], { minAgeMs });
    const first = scrape();
    await nextTurn();
    await pass(clock, tookMs);
    await client.latest.answer(listingBody(0));
    await first.ended;
    await pass(clock, ageMs - tookMs);
    const second = scrape();
    await nextTurn();
    assert.deepEqual([client.requests.length, second.isOver], [polls ? 2 : 1, !polls]);
    if (polls) await client.latest.answer(listingBody(0));
    await second.ended;
  });
}

test('another min_age holds from the next scrape on', async (t) => {
  const { client, scrape, scrapeDriven } = setUp(t, ['A']);
  const first = scrape();
  await nextTurn();
  await client.latest.answer(listingBody(0));
  await first.ended;
  scrapeDriven.configure({ ...LIMITS, minAgeMs: 0 });
  const second = scrape();
  await nextTurn();
  assert.equal(client.requests.length, 2);
  await client.latest.answer(listingBody(0));
  await second.ended;
});

test('scrapes share the poll that runs, each with what else it asks for', async (t) => {
  const all = setUp(t, ['A', 'B']);
  const { clock, client, scrape } = all;
  const one = scrape({ selection: new Set(['A']) });
  await nextTurn();
  await pass(clock, 6000);
  const other = scrape();
  await nextTurn();
  assert.equal(askedFor(all), 'AB');
  await client.requests[0]?.answer(listingBody(0));
  await one.ended;
  assert.equal(other.isOver, false);
  await client.requests[1]?.answer(listingBody(0));
  await other.ended;
});

/** How long a scrape waits for a poll that hangs, by its timeout. */
const WAITS: readonly (readonly [name: string, timeoutMs: number | undefined, waitMs: number])[] = [
  ['of 2 s', 2000, 1500],
  ['of 100 ms', 100, 50],
  ['that it does not tell', undefined, POLL_TIMEOUT_MS],
];

for (const [name, timeoutMs, waitMs] of WAITS) {
  test(`a scrape with a timeout ${name} waits ${waitMs} ms, and the poll goes on for the next one`, async (t) => {
    const { clock, client, store, scrape } = setUp(t, ['A']);
    client.heedsSignal = false;
    const first = scrape({ timeoutMs });
    await pass(clock, waitMs - 1);
    assert.equal(first.isOver, false);
    await pass(clock, 1);
    await first.ended;
    assert.deepEqual([store.get('A')?.isUp, client.latest.signal.aborted], [undefined, false]);

    const second = scrape({ timeoutMs: 2000 });
    await nextTurn();
    assert.equal(client.requests.length, 1);
    await client.latest.answer(listingBody(7));
    await second.ended;
    assert.equal(store.get('A')?.isUp, true);
  });
}

test('a scrape without a timeout waits as long as the longest poll that it asks for may take', async (t) => {
  const { clock, poller, client, scrape } = setUp(t, []);
  client.heedsSignal = false;
  const slow = (serviceCode: string, timeoutMs: number) =>
    codeFor(serviceCode, { target: { ...TARGET, serviceCode, timeoutMs } });
  await poller.apply([slow('A', 1000), slow('B', 3000), slow('C', 20_000)]);
  const scraping = scrape({ selection: new Set(['A', 'B']) });
  await pass(clock, 2999);
  assert.equal(scraping.isOver, false);
  await pass(clock, 1);
  await scraping.ended;
});

test('a poll that hangs is given up at its own deadline, whoever still waits', async (t) => {
  const { clock, client, store, scrape } = setUp(t, ['A']);
  client.heedsSignal = false;
  const first = scrape({ timeoutMs: 2000 });
  await nextTurn();
  await pass(clock, 1500);
  await first.ended;
  await pass(clock, POLL_TIMEOUT_MS + 5000 - 1500);
  assert.deepEqual([store.get('A')?.isUp, store.get('A')?.lastError], [false, 'timeout']);
});

test('whoever goes away is no longer waited for, and the poll goes on', async (t) => {
  const { clock, client, store, scrape } = setUp(t, ['A']);
  const leaving = new AbortController();
  const gone = scrape({ signal: leaving.signal });
  const staying = scrape();
  await nextTurn();
  leaving.abort();
  await assert.rejects(gone.ended, { name: 'AbortError' });
  assert.deepEqual([staying.isOver, client.latest.signal.aborted], [false, false]);
  await client.latest.answer(listingBody(0));
  await staying.ended;
  assert.equal(store.get('A')?.isUp, true);
  const late = scrape({ signal: AbortSignal.abort() });
  await assert.rejects(late.ended, { name: 'AbortError' });
  assert.deepEqual([client.requests.length, clock.sleepers], [1, 0]);
});

test('a poll that nobody waits for any more is finished and counts, and leaves no timer', async (t) => {
  const { clock, client, store, scrape } = setUp(t, ['A']);
  const leaving = new AbortController();
  const gone = scrape({ signal: leaving.signal });
  await nextTurn();
  leaving.abort();
  await assert.rejects(gone.ended, { name: 'AbortError' });
  await client.latest.answer(listingBody(0));
  await nextTurn();
  assert.deepEqual([store.get('A')?.isUp, clock.sleepers], [true, 0]);
});

test('a service that asks for a pause is left alone by scrapes until it is over, and what they left out is counted', async (t) => {
  const { clock, client, scrape, skipped } = setUp(t, ['A']);
  const first = scrape();
  await nextTurn();
  await client.latest.answer('', { status: 503, retryAfterMs: 30_001 });
  await first.ended;
  for (const count of [1, 2]) {
    await pass(clock, 15_000);
    await scrape().ended;
    assert.deepEqual([client.requests.length, await skipped('A')], [1, [0, count]]);
  }
  // Too soon after the last one: this one would not have polled in any case.
  await pass(clock, 0);
  await scrape().ended;
  assert.deepEqual(await skipped('A'), [0, 2]);
  await pass(clock, 15_000);
  const last = scrape();
  await nextTurn();
  assert.equal(client.requests.length, 2);
  await client.latest.answer(listingBody(0));
  await last.ended;
  assert.deepEqual(await skipped('A'), [0, 2]);
});

test('of one address so many are polled at a time, and the others in their turn, even when nobody waits any more', async (t) => {
  const codes = Array.from({ length: 1000 }, (_, index) => `CODE_${index}`);
  const { clock, client, store, scrape, scrapeDriven } = setUp(t, codes, { maxPolls: 64 });
  const first = scrape({ timeoutMs: 1500 });
  await nextTurn();
  assert.equal(client.requests.length, 64);
  await pass(clock, 1000);
  await first.ended;
  const second = scrape();
  for (let answered = 0; answered < codes.length; answered += 1) {
    assert.equal(client.requests.length, Math.min(codes.length, answered + 64));
    assert.equal(second.isOver, false);
    await client.requests[answered]?.answer(listingBody(0));
  }
  await second.ended;
  assert.ok(store.states.every(({ isUp }) => isUp === true));
  scrapeDriven.configure({ ...LIMITS, maxPolls: 100 });
  await pass(clock, 15_000);
  const third = scrape({ timeoutMs: 1000 });
  await nextTurn();
  assert.equal(client.requests.length, codes.length + 100);
  await pass(clock, 500);
  await third.ended;
});

test('the deadline of a poll begins with its turn, not while it waits for it', async (t) => {
  const { clock, client, store, scrape } = setUp(t, ['A', 'B'], { maxPolls: 1 });
  client.heedsSignal = false;
  const scraping = scrape({ timeoutMs: 60_000 });
  await nextTurn();
  await pass(clock, POLL_TIMEOUT_MS + 5000);
  assert.deepEqual([store.get('A')?.lastError, client.latest.target.serviceCode], ['timeout', 'B']);
  await pass(clock, POLL_TIMEOUT_MS);
  await client.latest.answer(listingBody(0));
  await scraping.ended;
  assert.equal(store.get('B')?.isUp, true);
});

test('a service that hangs takes no turns from one at another address', async (t) => {
  const { clock, client, store, poller, scrape } = setUp(t, [], { maxPolls: 1 });
  client.heedsSignal = false;
  const at = (serviceCode: string, baseUrl: string) =>
    codeFor(serviceCode, { target: { ...TARGET, serviceCode, baseUrl } });
  await poller.apply([at('A', 'http://one/a'), at('B', 'http://one/b'), at('C', 'http://two')]);
  const scraping = scrape({ timeoutMs: 2000 });
  await nextTurn();
  assert.equal(client.latest.target.serviceCode, 'C');
  await client.latest.answer(listingBody(0));
  await pass(clock, 1500);
  await scraping.ended;
  assert.deepEqual(
    [store.get('A')?.isUp, store.get('B')?.isUp, store.get('C')?.isUp],
    [undefined, undefined, true],
  );
});

test('being disposed of answers scrapes that wait, and ends what runs and what waits for its turn', async (t) => {
  const { client, store, poller, scrape } = setUp(t, ['A', 'B'], { maxPolls: 1 });
  const scraping = scrape();
  await nextTurn();
  await poller[Symbol.asyncDispose]();
  await scraping.ended;
  assert.deepEqual([client.requests.length, client.latest.signal.aborted], [1, true]);
  await scrape().ended;
  assert.equal(client.requests.length, 1);
  assert.deepEqual([store.get('A')?.isUp, store.get('B')?.isUp], [undefined, undefined]);
});

test('codes that go, change and come while a scrape waits: it waits for none that is not polled any more', async (t) => {
  const all = setUp(t, ['A', 'B', 'C']);
  const { client, store, poller, scrape } = all;
  const scraping = scrape();
  await nextTurn();
  const [a, b, c] = client.requests;
  const changed = codeFor('B', { target: { ...TARGET, serviceCode: 'B', secret: 'new' } });
  await poller.apply([changed, codeFor('C'), codeFor('D')]);
  assert.deepEqual([a?.signal.aborted, b?.signal.aborted, c?.signal.aborted], [true, true, false]);
  assert.equal(scraping.isOver, false);
  await c?.answer(listingBody(0));
  await scraping.ended;
  assert.deepEqual(
    store.states.map(({ serviceCode, isUp }) => [serviceCode, isUp]),
    [
      ['B', undefined],
      ['C', true],
      ['D', undefined],
    ],
  );
  // What is new, and what has changed, is polled by the next one; `C` was a moment ago.
  const next = scrape();
  await nextTurn();
  assert.equal(askedFor(all), 'ABCBD');
  assert.equal(client.requests[3]?.target.secret, 'new');
  for (const request of client.requests.slice(3)) await request.answer(listingBody(0));
  await next.ended;
});

test('a mistake of the program ends the polling with it, and keeps no scrape waiting', async (t) => {
  const clock = new ManualClock(START_MS);
  const scrapeDriven = new ScrapeDrivenPolls(clock, LIMITS);
  const { client, poller } = setUpPoller(t, ['A'], clock, scrapeDriven.drive);
  const mistake = new TypeError('Expected a function');
  const failed = assert.rejects(poller.start(), mistake);
  const scraping = scrapeDriven.refresh({});
  await nextTurn();
  await client.latest.fail(mistake);
  await failed;
  await scraping;
});

test('a poll that hangs beyond all deadlines stands still, and one that waits for its turn or a scrape does not', async (t) => {
  const clock = new SuspendableClock(START_MS);
  const { client, poller, scrape } = setUp(t, ['A', 'B'], { maxPolls: 1 }, clock);
  client.heedsSignal = false;
  void scrape();
  await nextTurn();
  clock.suspend(60_000);
  assert.deepEqual(poller.standingStill(clock.monotonic()), []);
  clock.suspend(1);
  assert.deepEqual(poller.standingStill(clock.monotonic()), ['A']);
  clock.resume();
  await nextTurn();
  assert.deepEqual(poller.standingStill(clock.monotonic()), []);
  await client.latest.answer(listingBody(0));
  await pass(clock, 3_600_000);
  assert.deepEqual(poller.standingStill(clock.monotonic()), []);
});
