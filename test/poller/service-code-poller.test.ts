import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { RecordReaders } from '../../src/listing/record-readers.ts';
import { PollChanges } from '../../src/poller/changes.ts';
import { ServiceCodePoller } from '../../src/poller/service-code-poller.ts';
import { Store, type CodeState } from '../../src/poller/store.ts';
import { Tally } from '../../src/tally/tally.ts';
import { Worksheets } from '../../src/tally/worksheet.ts';
import { UpstreamError } from '../../src/upstream/errors.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { START_MS, valuesOf } from '../support/tally-run.ts';
import { HeldClient, listingBody, pass, RecordedMetrics, recordedLog, TARGET } from './polling.ts';

const INTERVAL_MS = 15_000;
/** The deadline of a poll, and what it may take longer before it counts as hung. */
const GIVEN_UP_AFTER_MS = 10_000 + 5000;

interface SetUpOptions {
  readonly intervalMs?: number;
  readonly timeoutMs?: number;
}

interface StartOptions extends SetUpOptions {
  readonly firstDelayMs?: number;
}

function setUp({ intervalMs = INTERVAL_MS, timeoutMs = TARGET.timeoutMs }: SetUpOptions = {}) {
  const clock = new ManualClock(START_MS);
  const client = new HeldClient(clock);
  const metrics = new RecordedMetrics();
  const store = new Store();
  const tallyOptions = { maxLabelSets: 100, stallAfterMs: 60_000, perTask: false, maxTasks: 10 };
  const poller = new ServiceCodePoller({
    code: { target: { ...TARGET, timeoutMs }, intervalMs, staleAfterMs: 45_000, stallAfterMs: 60_000 },
    client,
    records: new RecordReaders(),
    worksheets: new Worksheets(),
    tally: new Tally({ serviceCode: TARGET.serviceCode, ...tallyOptions }),
    store,
    metrics,
    changes: new PollChanges(recordedLog().logger),
    clock,
  });
  const state = (): CodeState => {
    const found = store.get(TARGET.serviceCode);
    assert.ok(found !== undefined);
    return found;
  };
  return { clock, client, metrics, poller, state };
}

/** A poller at work, which ends with the test and must leave nothing behind. */
function start(t: TestContext, { firstDelayMs = 0, ...options }: StartOptions = {}) {
  const all = setUp(options);
  const stop = new AbortController();
  const run = all.poller.run(firstDelayMs, stop.signal);
  const reason = new Error('Stopping');
  t.after(async () => {
    stop.abort(reason);
    await assert.rejects(run, reason);
    await nextTurn();
    assert.equal(all.clock.sleepers, 0);
  });
  return all;
}

/** Runs one poll to its end, answered by the test. */
async function pollWith(
  { poller, client }: ReturnType<typeof setUp>,
  answer: (request: HeldClient['latest']) => Promise<void>,
): Promise<void> {
  const polled = poller.poll(new AbortController().signal);
  await nextTurn();
  await answer(client.latest);
  await polled;
}

const reset = new UpstreamError('reset', 'The connection to the service broke');
const overloaded = (retryAfterMs: number) => ({ status: 503, retryAfterMs });

test('before its first poll a service code is known, and nothing of it', () => {
  const { state, client } = setUp();
  const { isUp, ret, snapshot, lastPollMs } = state();
  assert.deepEqual(
    [isUp, ret, snapshot, lastPollMs, client.times],
    [undefined, undefined, undefined, undefined, []],
  );
});

test('the first poll comes after the delay, the others on its grid', async (t) => {
  const { clock, client } = start(t, { firstDelayMs: 4000 });
  await pass(clock, 3999);
  assert.deepEqual(client.times, []);
  await pass(clock, 1);
  for (const tookMs of [300, 14_999, 0]) {
    await pass(clock, tookMs);
    await client.latest.answer(listingBody(0));
    await pass(clock, INTERVAL_MS - tookMs);
  }
  assert.deepEqual(
    client.times.map((atMs) => atMs - START_MS),
    [4000, 19_000, 34_000, 49_000],
  );
});

test('a poll is counted from its beginning to its commit', async () => {
  const all = setUp();
  const body = listingBody(0);
  await pollWith(all, async (request) => {
    assert.deepEqual(all.metrics.calls, ['started']);
    all.clock.advance(250);
    await request.answer(body);
  });
  assert.deepEqual(all.metrics.calls, ['started', `${body.length} bytes`, 'succeeded after 0.25 s']);
});

test('while a poll runs no other begins, and each that was due then is an overlap', async (t) => {
  const { clock, client, metrics } = start(t, { intervalMs: 1000 });
  await pass(clock, 0);
  for (const ms of [900, 900, 900]) await pass(clock, ms);
  assert.deepEqual([client.requests.length, metrics.count('skipped by overlap')], [1, 0]);
  await client.latest.answer(listingBody(0));
  assert.equal(metrics.count('skipped by overlap'), 2);
  await pass(clock, 299);
  assert.equal(client.requests.length, 1);
  await pass(clock, 1);
  assert.deepEqual(
    client.times.map((atMs) => atMs - START_MS),
    [0, 3000],
  );
});

/** When polls begin that take so many seconds each, with 10 seconds between two that are due. */
function modelOf(tookSeconds: readonly number[]): { begins: number[]; overlaps: number } {
  const begins: number[] = [];
  let due = 0;
  for (const took of tookSeconds) {
    begins.push(due);
    const end = due + took;
    while (due <= end) due += 10;
  }
  const end = (begins.at(-1) ?? 0) + (tookSeconds.at(-1) ?? 0);
  const points = Math.floor(end / 10) + 1;
  return { begins, overlaps: points - begins.length };
}

test('however long polls take and however they end, they begin on the grid, one at a time', async () => {
  const polls = fc.array(fc.record({ took: fc.nat({ max: 35 }), isGood: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(polls, async (outcomes) => {
      const { clock, client, metrics, poller } = setUp({ intervalMs: 10_000, timeoutMs: 100_000 });
      const stop = new AbortController();
      const ended = assert.rejects(poller.run(0, stop.signal));
      await pass(clock, 0);
      for (const [index, { took, isGood }] of outcomes.entries()) {
        for (let waited = 0; client.requests.length <= index && waited < 10; waited += 1)
          await pass(clock, 1000);
        for (let second = 0; second < took; second += 1) await pass(clock, 1000);
        assert.equal(client.requests.length, index + 1);
        await (isGood ? client.latest.answer(listingBody(0)) : client.latest.fail(reset));
      }
      const { begins, overlaps } = modelOf(outcomes.map(({ took }) => took));
      assert.deepEqual(
        client.times.map((atMs) => (atMs - START_MS) / 1000),
        begins,
      );
      assert.equal(metrics.count('skipped by overlap'), overlaps);
      stop.abort();
      await ended;
    }),
    { numRuns: 30 },
  );
});

test('a service that asks for a pause is left alone until it is over, and then polled on the grid', async (t) => {
  const { clock, client, metrics } = start(t);
  await pass(clock, 0);
  await client.latest.answer('', overloaded(30_001));
  for (const skipped of [1, 2]) {
    await pass(clock, INTERVAL_MS);
    assert.deepEqual([client.requests.length, metrics.count('skipped by retry_after')], [1, skipped]);
  }
  await pass(clock, INTERVAL_MS);
  assert.equal(client.latest.atMs, START_MS + 45_000);
  await client.latest.answer(listingBody(0));
  await pass(clock, INTERVAL_MS);
  assert.deepEqual([client.requests.length, metrics.count('skipped by retry_after')], [3, 2]);
});

test('a pause that ends just when a poll is due leaves it in its place', async (t) => {
  const { clock, client, metrics } = start(t);
  await pass(clock, 0);
  await client.latest.answer('', overloaded(INTERVAL_MS));
  await pass(clock, INTERVAL_MS);
  assert.deepEqual([client.requests.length, metrics.count('skipped by retry_after')], [2, 0]);
});

test('a pause of a day is heeded for 5 minutes', async (t) => {
  const { clock, client, metrics } = start(t);
  await pass(clock, 0);
  await client.latest.answer('', overloaded(86_400_000));
  for (let point = 1; point <= 20; point += 1) await pass(clock, INTERVAL_MS);
  assert.equal(client.latest.atMs, START_MS + 300_000);
  assert.equal(metrics.count('skipped by retry_after'), 19);
});

test('a service that fails is asked as often as one that does not', async (t) => {
  const { clock, client } = start(t);
  await pass(clock, 0);
  for (let failures = 0; failures < 5; failures += 1) {
    await client.latest.fail(reset);
    await pass(clock, INTERVAL_MS);
  }
  assert.deepEqual(
    client.times.map((atMs) => atMs - START_MS),
    [0, 1, 2, 3, 4, 5].map((point) => point * INTERVAL_MS),
  );
});

test('a client that hangs is given up 5 seconds after its deadline, and polling goes on', async (t) => {
  const { clock, client, metrics, state } = start(t);
  client.heedsSignal = false;
  await pass(clock, 0);
  const [hung] = client.requests;
  await pass(clock, GIVEN_UP_AFTER_MS - 1);
  assert.equal(state().isUp, undefined);
  await pass(clock, 1);
  assert.deepEqual([state().isUp, state().lastError, hung?.signal.aborted], [false, 'timeout', true]);
  assert.deepEqual(metrics.calls, ['started', 'failed by timeout after 15 s', 'skipped by overlap']);
  await pass(clock, INTERVAL_MS);
  await client.latest.answer(listingBody(0));
  assert.deepEqual([client.requests.length, state().isUp], [2, true]);
});

for (const [name, end] of [
  ['an answer', (late: HeldClient['latest']) => late.answer(listingBody(999))],
  ['an error', (late: HeldClient['latest']) => late.fail(new TypeError('Expected to be in time'))],
] as const) {
  test(`${name} that comes after its poll was given up changes nothing`, async (t) => {
    const { clock, client, metrics, state } = start(t);
    client.heedsSignal = false;
    await pass(clock, 0);
    await client.latest.answer(listingBody(100));
    await pass(clock, INTERVAL_MS);
    const hung = client.latest;
    await pass(clock, GIVEN_UP_AFTER_MS);
    const [before, counted] = [state(), [...metrics.calls]];
    await end(hung);
    assert.equal(state(), before);
    assert.deepEqual(metrics.calls, counted);
    await pass(clock, INTERVAL_MS);
    await client.latest.answer(listingBody(150));
    assert.deepEqual(samplesOf(state(), 'inputBytes'), { 'server-1': 50 });
  });
}

for (const heedsSignal of [true, false]) {
  const kind = heedsSignal ? 'a client that heeds it' : 'a client that hangs';
  test(`an abort during a poll by ${kind} ends the polling at once with its reason`, async () => {
    const { clock, client, metrics, poller, state } = setUp();
    client.heedsSignal = heedsSignal;
    const stop = new AbortController();
    const reason = new Error('Stopping');
    const ended = assert.rejects(poller.run(0, stop.signal), reason);
    await pass(clock, 0);
    stop.abort(reason);
    await nextTurn();
    assert.equal(clock.sleepers, 0);
    await ended;
    assert.equal(client.latest.signal.aborted, true);
    assert.deepEqual([metrics.calls, state().isUp], [['started'], undefined]);
  });
}

test('an abort between two polls ends the polling with its reason', async () => {
  const { clock, client, poller } = setUp();
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const ended = assert.rejects(poller.run(1000, stop.signal), reason);
  stop.abort(reason);
  await ended;
  assert.deepEqual([client.requests.length, clock.sleepers], [0, 0]);
});

test('a poll under a signal that has aborted does not begin', async () => {
  const { client, metrics, poller } = setUp();
  const reason = new Error('Stopping');
  const rejected = assert.rejects(poller.poll(AbortSignal.abort(reason)), reason);
  await nextTurn();
  assert.deepEqual([client.requests.length, metrics.calls], [0, []]);
  await rejected;
});

test('a poll leaves no listener on the signal and no timer', async () => {
  const { clock, client, poller } = setUp();
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const watched: AbortSignal = Object.assign(signal, {
    addEventListener: (_type: string, listener: unknown) => listeners.add(listener),
    removeEventListener: (_type: string, listener: unknown) => listeners.delete(listener),
  });
  const polled = poller.poll(watched);
  await nextTurn();
  assert.equal(listeners.size, 1);
  await client.latest.answer(listingBody(0));
  await polled;
  await nextTurn();
  assert.deepEqual([listeners.size, clock.sleepers], [0, 0]);
});

test('a mistake of the program ends the polling with it', async () => {
  const { clock, client, poller, state } = setUp();
  const mistake = new TypeError('Expected a function');
  const ended = assert.rejects(poller.run(0, new AbortController().signal), mistake);
  await pass(clock, 0);
  await client.latest.fail(mistake);
  await ended;
  await nextTurn();
  assert.deepEqual([state().isUp, clock.sleepers], [undefined, 0]);
});

/** The values of a family of the state's last good listing. */
function samplesOf({ snapshot }: CodeState, key: Parameters<typeof valuesOf>[1]): Record<string, number> {
  assert.ok(snapshot !== undefined);
  return valuesOf(snapshot, key);
}

/** What a state says but for its listing; times in milliseconds since the start. */
function summaryOf({ isUp, ret, lastError, lastPollMs, lastSuccessMs }: CodeState) {
  const since = (wallMs: number | undefined) => (wallMs === undefined ? undefined : wallMs - START_MS);
  return { isUp, ret, lastError, lastPollMs: since(lastPollMs), lastSuccessMs: since(lastSuccessMs) };
}

test('the store tells of success, failure and recovery', async () => {
  const all = setUp();
  await pollWith(all, (request) => request.answer(listingBody(0)));
  assert.deepEqual(summaryOf(all.state()), {
    isUp: true,
    ret: 0,
    lastError: undefined,
    lastPollMs: 0,
    lastSuccessMs: 0,
  });
  all.clock.advance(15_000);
  await pollWith(all, (request) => request.answer('{"ret":1005}'));
  assert.deepEqual(summaryOf(all.state()), {
    isUp: false,
    ret: 1005,
    lastError: 'api_error',
    lastPollMs: 15_000,
    lastSuccessMs: 0,
  });
  all.clock.advance(15_000);
  await pollWith(all, (request) => request.fail(reset));
  assert.deepEqual(summaryOf(all.state()), {
    isUp: false,
    ret: undefined,
    lastError: 'reset',
    lastPollMs: 30_000,
    lastSuccessMs: 0,
  });
  all.clock.advance(15_000);
  await pollWith(all, (request) => request.answer(listingBody(0)));
  assert.deepEqual(summaryOf(all.state()), {
    isUp: true,
    ret: 0,
    lastError: undefined,
    lastPollMs: 45_000,
    lastSuccessMs: 45_000,
  });
});

test('the first poll may fail', async () => {
  const all = setUp();
  await pollWith(all, (request) => request.answer('<html>', { status: 502 }));
  const { isUp, lastError, lastSuccessMs, snapshot } = all.state();
  assert.deepEqual([isUp, lastError, lastSuccessMs, snapshot], [false, 'http_status', undefined, undefined]);
});

const FAILURES: readonly (readonly [string, (request: HeldClient['latest']) => Promise<void>])[] = [
  ['a listing cut off', (request) => request.answer(listingBody(500).slice(0, -1))],
  ['a whole listing with ret 7', (request) => request.answer(listingBody(500, 7))],
  ['a whole listing with status 500', (request) => request.answer(listingBody(500), { status: 500 })],
  [
    'a listing that breaks off with the connection',
    (request) => {
      request.write(listingBody(500).slice(0, -1));
      return request.fail(reset);
    },
  ],
];

for (const [name, end] of FAILURES) {
  test(`${name} leaves the listing before it as it was, and no byte is lost or counted twice`, async () => {
    const all = setUp();
    await pollWith(all, (request) => request.answer(listingBody(100)));
    all.clock.advance(15_000);
    await pollWith(all, (request) => request.answer(listingBody(300)));
    const { snapshot } = all.state();
    all.clock.advance(15_000);
    await pollWith(all, end);
    assert.equal(all.state().isUp, false);
    assert.equal(all.state().snapshot, snapshot);
    all.clock.advance(15_000);
    await pollWith(all, (request) => request.answer(listingBody(700)));
    assert.deepEqual(samplesOf(all.state(), 'inputBytes'), { 'server-1': 600 });
  });
}

test('records left out are counted when their listing is good, and only then', async () => {
  const all = setUp();
  const body = (ret: number) => `{"user_list":[1,2],"task_list":[{"id":5}],"ret":${ret}}`;
  await pollWith(all, (request) => request.answer(body(7)));
  await pollWith(all, (request) => request.answer(body(0)));
  assert.deepEqual(
    all.metrics.calls.filter((call) => call.startsWith('invalid')),
    ['invalid user not_an_object: 2', 'invalid task wrong_type: 1'],
  );
});

test('an answer without a body tells no size', async () => {
  const all = setUp();
  await pollWith(all, (request) => request.fail(reset));
  assert.deepEqual(all.metrics.calls, ['started', 'failed by reset after 0 s']);
});
