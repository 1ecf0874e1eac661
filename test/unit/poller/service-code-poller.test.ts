import assert from 'node:assert/strict';
import { getReaderPool } from '../../support/read-listing.ts';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { PollMetrics } from '../../../src/metrics/exposition/code-metrics.ts';
import { PollLogger } from '../../../src/poller/poll-logger.ts';
import { ServiceCodePoller } from '../../../src/poller/service-code-poller.ts';
import type { CodeState } from '../../../src/poller/store.ts';
import { Tally } from '../../../src/tally/tally.ts';
import { AccumulatorPool } from '../../../src/tally/accumulator-pool.ts';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import type { ResponseHead } from '../../../src/upstream/request-observer.ts';
import { advanceClock, ManualClock } from '../../support/manual-clock.ts';
import { ScrapedStore } from '../../support/scraped-store.ts';
import { START_MS, readValues } from '../../support/tally-run.ts';
import { createListingBody, ManualClient, TARGET } from '../../support/manual-client.ts';
import { createRecordingLogger } from '../../support/recording-logger.ts';
import { createPolledCode } from './poller-harness.ts';

const INTERVAL_MS = 15_000;
/** Deadline of a poll plus the grace time for hanging clients. */
const MAX_POLL_MS = 10_000 + 5000;

/** Records calls in order. */
class RecordingPollMetrics implements PollMetrics {
  readonly calls: string[] = [];

  recordStart(): void {
    this.calls.push('started');
  }

  recordSuccess(durationSeconds: number): void {
    this.calls.push(`succeeded after ${durationSeconds} s`);
  }

  recordFailure(reason: string, durationSeconds: number): void {
    this.calls.push(`failed by ${reason} after ${durationSeconds} s`);
  }

  recordSkip(reason: string): void {
    this.calls.push(`skipped by ${reason}`);
  }

  recordAbort(): void {
    this.calls.push('aborted');
  }

  onResponse({ status }: ResponseHead): void {
    this.calls.push(`status ${status}`);
  }

  onBodyBytes(bytes: number): void {
    this.calls.push(`${bytes} bytes received`);
  }

  setResponseBytes(bytes: number): void {
    this.calls.push(`${bytes} bytes`);
  }

  count(call: string): number {
    return this.calls.filter((one) => one === call).length;
  }
}

interface SetUpOptions {
  readonly intervalMs?: number;
  readonly timeoutMs?: number;
}

interface StartOptions extends SetUpOptions {
  readonly firstDelayMs?: number;
}

function setUp({ intervalMs = INTERVAL_MS, timeoutMs = TARGET.timeoutMs }: SetUpOptions = {}) {
  const clock = new ManualClock(START_MS);
  const client = new ManualClient(clock);
  const metrics = new RecordingPollMetrics();
  const store = new ScrapedStore();
  const times = { stallAfterMs: 60_000, pollIntervalMs: intervalMs };
  const tallyOptions = { maxLabelSets: 100, perTask: false, maxTasks: 10, ...times };
  const poller = new ServiceCodePoller({
    code: createPolledCode(TARGET.serviceCode, { target: { ...TARGET, timeoutMs }, intervalMs }),
    client,
    readers: getReaderPool(),
    accumulators: new AccumulatorPool(),
    tally: new Tally({ serviceCode: TARGET.serviceCode, ...tallyOptions }),
    store,
    metrics,
    pollLogger: new PollLogger(createRecordingLogger().logger),
    clock,
  });
  const state = (): CodeState => {
    const found = store.get(TARGET.serviceCode);
    assert.ok(found !== undefined);
    return found;
  };
  return { clock, client, metrics, poller, state };
}

/** Starts a poller that stops with the test; the test fails if a timer remains. */
function start(t: TestContext, { firstDelayMs = 0, ...options }: StartOptions = {}) {
  const all = setUp(options);
  const stop = new AbortController();
  const run = all.poller.run(firstDelayMs, stop.signal);
  const reason = new Error('Stopping');
  t.after(async () => {
    stop.abort(reason);
    await assert.rejects(run, reason);
    await nextTurn();
    assert.equal(all.clock.sleeperCount, 0);
  });
  return all;
}

/** Runs one poll; `answer` completes its request. */
async function pollWith(
  { poller, client }: ReturnType<typeof setUp>,
  answer: (request: ManualClient['latest']) => Promise<void>,
): Promise<void> {
  const polled = poller.poll(new AbortController().signal);
  await nextTurn();
  await answer(client.latest);
  await polled;
}

const reset = new UpstreamError('reset', 'The connection to the service broke');
const overloaded = (retryAfterMs: number) => ({ status: 503, retryAfterMs });

test('before its first poll, the store has an empty state', () => {
  const { state, client } = setUp();
  const { isUp, ret, snapshot, lastPollMs } = state();
  assert.deepEqual(
    [isUp, ret, snapshot, lastPollMs, client.requestTimesMs],
    [undefined, undefined, undefined, undefined, []],
  );
});

test('the first poll runs after the delay, the others at the interval', async (t) => {
  const { clock, client } = start(t, { firstDelayMs: 4000 });
  await advanceClock(clock, 3999);
  assert.deepEqual(client.requestTimesMs, []);
  await advanceClock(clock, 1);
  for (const tookMs of [300, 14_999, 0]) {
    await advanceClock(clock, tookMs);
    await client.latest.respond(createListingBody(0));
    await advanceClock(clock, INTERVAL_MS - tookMs);
  }
  assert.deepEqual(
    client.requestTimesMs.map((atMs) => atMs - START_MS),
    [4000, 19_000, 34_000, 49_000],
  );
});

test('the duration of a poll is measured from its start to its commit', async () => {
  const all = setUp();
  const body = createListingBody(0);
  await pollWith(all, async (request) => {
    assert.deepEqual(all.metrics.calls, ['started']);
    all.clock.advance(250);
    await request.respond(body);
  });
  assert.deepEqual(all.metrics.calls, ['started', `${body.length} bytes`, 'succeeded after 0.25 s']);
});

test('an internal error does not count as an aborted poll', async () => {
  const { client, metrics, poller } = setUp();
  const internalError = new TypeError('Expected a function');
  const polled = assert.rejects(poller.poll(new AbortController().signal), internalError);
  await nextTurn();
  await client.latest.fail(internalError);
  await polled;
  assert.deepEqual(metrics.calls, ['started']);
});

test('polls that are due while another runs are skipped as overlaps', async (t) => {
  const { clock, client, metrics } = start(t, { intervalMs: 1000 });
  await advanceClock(clock, 0);
  for (const ms of [900, 900, 900]) await advanceClock(clock, ms);
  assert.deepEqual([client.requests.length, metrics.count('skipped by overlap')], [1, 0]);
  await client.latest.respond(createListingBody(0));
  assert.equal(metrics.count('skipped by overlap'), 2);
  await advanceClock(clock, 299);
  assert.equal(client.requests.length, 1);
  await advanceClock(clock, 1);
  assert.deepEqual(
    client.requestTimesMs.map((atMs) => atMs - START_MS),
    [0, 3000],
  );
});

/** Computes the start times of polls with the given durations and an interval of 10 seconds. */
function simulateSchedule(durationsSeconds: readonly number[]): { starts: number[]; overlaps: number } {
  const starts: number[] = [];
  let due = 0;
  for (const duration of durationsSeconds) {
    starts.push(due);
    const end = due + duration;
    while (due <= end) due += 10;
  }
  const end = (starts.at(-1) ?? 0) + (durationsSeconds.at(-1) ?? 0);
  const points = Math.floor(end / 10) + 1;
  return { starts, overlaps: points - starts.length };
}

test('polls start on the grid, one at a time, whatever their duration and outcome', async () => {
  const polls = fc.array(fc.record({ seconds: fc.nat({ max: 35 }), isGood: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(polls, async (outcomes) => {
      const { clock, client, metrics, poller } = setUp({ intervalMs: 10_000, timeoutMs: 100_000 });
      const stop = new AbortController();
      const ended = assert.rejects(poller.run(0, stop.signal));
      await advanceClock(clock, 0);
      for (const [index, { seconds, isGood }] of outcomes.entries()) {
        for (let waited = 0; client.requests.length <= index && waited < 10; waited += 1)
          await advanceClock(clock, 1000);
        for (let second = 0; second < seconds; second += 1) await advanceClock(clock, 1000);
        assert.equal(client.requests.length, index + 1);
        await (isGood ? client.latest.respond(createListingBody(0)) : client.latest.fail(reset));
      }
      const { starts, overlaps } = simulateSchedule(outcomes.map(({ seconds }) => seconds));
      assert.deepEqual(
        client.requestTimesMs.map((atMs) => (atMs - START_MS) / 1000),
        starts,
      );
      assert.equal(metrics.count('skipped by overlap'), overlaps);
      stop.abort();
      await ended;
    }),
    { numRuns: 30 },
  );
});

test('a service that asks for a pause is polled again on the grid after it', async (t) => {
  const { clock, client, metrics } = start(t);
  await advanceClock(clock, 0);
  await client.latest.respond('', overloaded(30_001));
  for (const skipped of [1, 2]) {
    await advanceClock(clock, INTERVAL_MS);
    assert.deepEqual([client.requests.length, metrics.count('skipped by retry_after')], [1, skipped]);
  }
  await advanceClock(clock, INTERVAL_MS);
  assert.equal(client.latest.atMs, START_MS + 45_000);
  await client.latest.respond(createListingBody(0));
  await advanceClock(clock, INTERVAL_MS);
  assert.deepEqual([client.requests.length, metrics.count('skipped by retry_after')], [3, 2]);
});

test('a pause that ends when a poll is due does not skip that poll', async (t) => {
  const { clock, client, metrics } = start(t);
  await advanceClock(clock, 0);
  await client.latest.respond('', overloaded(INTERVAL_MS));
  await advanceClock(clock, INTERVAL_MS);
  assert.deepEqual([client.requests.length, metrics.count('skipped by retry_after')], [2, 0]);
});

test('a requested pause of a day lasts 5 minutes', async (t) => {
  const { clock, client, metrics } = start(t);
  await advanceClock(clock, 0);
  await client.latest.respond('', overloaded(86_400_000));
  for (let point = 1; point <= 20; point += 1) await advanceClock(clock, INTERVAL_MS);
  assert.equal(client.latest.atMs, START_MS + 300_000);
  assert.equal(metrics.count('skipped by retry_after'), 19);
});

test('a failing service is polled at the same interval', async (t) => {
  const { clock, client } = start(t);
  await advanceClock(clock, 0);
  for (let failures = 0; failures < 5; failures += 1) {
    await client.latest.fail(reset);
    await advanceClock(clock, INTERVAL_MS);
  }
  assert.deepEqual(
    client.requestTimesMs.map((atMs) => atMs - START_MS),
    [0, 1, 2, 3, 4, 5].map((point) => point * INTERVAL_MS),
  );
});

test('a hanging client times out 5 seconds after its deadline, and polling continues', async (t) => {
  const { clock, client, metrics, state } = start(t);
  client.isAbortable = false;
  await advanceClock(clock, 0);
  const [hung] = client.requests;
  await advanceClock(clock, MAX_POLL_MS - 1);
  assert.equal(state().isUp, undefined);
  await advanceClock(clock, 1);
  assert.deepEqual([state().isUp, state().failure?.reason, hung?.signal.aborted], [false, 'timeout', true]);
  assert.deepEqual(metrics.calls, ['started', 'failed by timeout after 15 s', 'skipped by overlap']);
  await advanceClock(clock, INTERVAL_MS);
  await client.latest.respond(createListingBody(0));
  assert.deepEqual([client.requests.length, state().isUp], [2, true]);
});

for (const [name, end] of [
  ['a response', (late: ManualClient['latest']) => late.respond(createListingBody(999))],
  ['an error', (late: ManualClient['latest']) => late.fail(new TypeError('Expected to be in time'))],
] as const) {
  test(`${name} after its poll timed out changes nothing`, async (t) => {
    const { clock, client, metrics, state } = start(t);
    client.isAbortable = false;
    await advanceClock(clock, 0);
    await client.latest.respond(createListingBody(100));
    await advanceClock(clock, INTERVAL_MS);
    const hung = client.latest;
    await advanceClock(clock, MAX_POLL_MS);
    const [before, counted] = [state(), [...metrics.calls]];
    await end(hung);
    assert.equal(state(), before);
    assert.deepEqual(metrics.calls, counted);
    await advanceClock(clock, INTERVAL_MS);
    await client.latest.respond(createListingBody(150));
    assert.deepEqual(getValues(state(), 'inputBytes'), { 'server-1': 50 });
  });
}

for (const isAbortable of [true, false]) {
  const kind = isAbortable ? 'an abortable client' : 'a hanging client';
  test(`an abort during a poll by ${kind} rejects immediately with its reason and is counted`, async () => {
    const { clock, client, metrics, poller, state } = setUp();
    client.isAbortable = isAbortable;
    const stop = new AbortController();
    const reason = new Error('Stopping');
    const ended = assert.rejects(poller.run(0, stop.signal), reason);
    await advanceClock(clock, 0);
    stop.abort(reason);
    await nextTurn();
    assert.equal(clock.sleeperCount, 0);
    await ended;
    assert.equal(client.latest.signal.aborted, true);
    assert.deepEqual([metrics.calls, state().isUp], [['started', 'aborted'], undefined]);
  });
}

test('an abort between two polls rejects with its reason', async () => {
  const { clock, client, poller } = setUp();
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const ended = assert.rejects(poller.run(1000, stop.signal), reason);
  stop.abort(reason);
  await ended;
  assert.deepEqual([client.requests.length, clock.sleeperCount], [0, 0]);
});

test('a poll with an aborted signal does not start', async () => {
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
  await client.latest.respond(createListingBody(0));
  await polled;
  await nextTurn();
  assert.deepEqual([listeners.size, clock.sleeperCount], [0, 0]);
});

test('an internal error rejects the promise of run', async () => {
  const { clock, client, poller, state } = setUp();
  const internalError = new TypeError('Expected a function');
  const ended = assert.rejects(poller.run(0, new AbortController().signal), internalError);
  await advanceClock(clock, 0);
  await client.latest.fail(internalError);
  await ended;
  await nextTurn();
  assert.deepEqual([state().isUp, clock.sleeperCount], [undefined, 0]);
});

function getValues({ snapshot }: CodeState, key: Parameters<typeof readValues>[1]): Record<string, number> {
  assert.ok(snapshot !== undefined);
  return readValues(snapshot, key);
}

/** Returns a state without its listing; times in milliseconds since the start. */
function summarize({ isUp, ret, httpStatus, failure, lastPollMs, lastSuccessMs }: CodeState) {
  const since = (wallMs: number | undefined) => (wallMs === undefined ? undefined : wallMs - START_MS);
  return {
    isUp,
    ret,
    httpStatus,
    lastError: failure?.reason,
    lastPollMs: since(lastPollMs),
    lastSuccessMs: since(lastSuccessMs),
  };
}

test('the store has the state after success, failure and recovery', async () => {
  const all = setUp();
  await pollWith(all, (request) => request.respond(createListingBody(0)));
  assert.deepEqual(summarize(all.state()), {
    isUp: true,
    ret: 0,
    httpStatus: 200,
    lastError: undefined,
    lastPollMs: 0,
    lastSuccessMs: 0,
  });
  all.clock.advance(15_000);
  await pollWith(all, (request) => request.respond('{"ret":1005}'));
  assert.deepEqual(summarize(all.state()), {
    isUp: false,
    ret: 1005,
    httpStatus: 200,
    lastError: 'api_error',
    lastPollMs: 15_000,
    lastSuccessMs: 0,
  });
  all.clock.advance(15_000);
  await pollWith(all, (request) => request.fail(reset));
  assert.deepEqual(summarize(all.state()), {
    isUp: false,
    ret: undefined,
    httpStatus: undefined,
    lastError: 'reset',
    lastPollMs: 30_000,
    lastSuccessMs: 0,
  });
  all.clock.advance(15_000);
  await pollWith(all, (request) => request.respond(createListingBody(0)));
  assert.deepEqual(summarize(all.state()), {
    isUp: true,
    ret: 0,
    httpStatus: 200,
    lastError: undefined,
    lastPollMs: 45_000,
    lastSuccessMs: 45_000,
  });
});

test('the history has the HTTP status or the ret of a failed poll', async () => {
  const all = setUp();
  await pollWith(all, (request) => request.respond('', { status: 503 }));
  await pollWith(all, (request) => request.respond('{"ret":1005}'));
  await pollWith(all, (request) => request.fail(reset));
  assert.deepEqual(
    all
      .state()
      .history.entries()
      .map(({ errorCode }) => errorCode),
    [503, 1005, undefined],
  );
});

test('the state keeps the byte counters of the previous good listing, for rates', async () => {
  const all = setUp();
  const readBytes = () => all.state().previousBytes?.inputBytes.values;
  await pollWith(all, (request) => request.respond(createListingBody(0)));
  assert.equal(readBytes(), undefined);
  await pollWith(all, (request) => request.respond(createListingBody(500)));
  await pollWith(all, (request) => request.fail(reset));
  assert.deepEqual(readBytes(), [0]);
  await pollWith(all, (request) => request.respond(createListingBody(600)));
  assert.deepEqual(readBytes(), [500]);
});

test('the plan of a service code has its address, its interval and its next poll', async (t) => {
  const { clock, client, poller } = start(t, { firstDelayMs: 4000 });
  const getPlan = () => poller.getPlan(clock.monotonic());
  const startMs = clock.monotonic();
  const plan = { origin: 'http://127.0.0.1', intervalMs: INTERVAL_MS, isPaused: false };
  assert.deepEqual(getPlan(), { ...plan, nextPollMs: startMs + 4000 });
  await advanceClock(clock, 4000);
  await client.latest.respond('', overloaded(20_000));
  // The poll at 19 s falls into the pause until 24 s.
  assert.deepEqual(getPlan(), { ...plan, isPaused: true, nextPollMs: startMs + 34_000 });
  await advanceClock(clock, 15_000);
  await advanceClock(clock, 5000);
  assert.deepEqual(getPlan(), { ...plan, nextPollMs: startMs + 34_000 });
});

test('without periodic polls there is no next poll', () => {
  const { clock, poller } = setUp();
  assert.equal(poller.getPlan(clock.monotonic()).nextPollMs, undefined);
});

test('a failed first poll publishes a state without a listing', async () => {
  const all = setUp();
  await pollWith(all, (request) => request.respond('<html>', { status: 502 }));
  const { isUp, failure, lastSuccessMs, snapshot } = all.state();
  assert.deepEqual(
    [isUp, failure?.reason, lastSuccessMs, snapshot],
    [false, 'http_status', undefined, undefined],
  );
});

const FAILURES: readonly (readonly [string, (request: ManualClient['latest']) => Promise<void>])[] = [
  ['a truncated listing', (request) => request.respond(createListingBody(500).slice(0, -1))],
  ['a complete listing with ret 7', (request) => request.respond(createListingBody(500, 7))],
  [
    'a complete listing with status 500',
    (request) => request.respond(createListingBody(500), { status: 500 }),
  ],
  [
    'a connection reset in the middle of a listing',
    (request) => {
      request.write(createListingBody(500).slice(0, -1));
      return request.fail(reset);
    },
  ],
];

for (const [name, end] of FAILURES) {
  test(`${name} keeps the previous listing, and no byte is lost or counted twice`, async () => {
    const all = setUp();
    await pollWith(all, (request) => request.respond(createListingBody(100)));
    all.clock.advance(15_000);
    await pollWith(all, (request) => request.respond(createListingBody(300)));
    const { snapshot } = all.state();
    all.clock.advance(15_000);
    await pollWith(all, end);
    assert.equal(all.state().isUp, false);
    assert.equal(all.state().snapshot, snapshot);
    all.clock.advance(15_000);
    await pollWith(all, (request) => request.respond(createListingBody(700)));
    assert.deepEqual(getValues(all.state(), 'inputBytes'), { 'server-1': 600 });
  });
}

test('invalid records are counted only if their listing is good', async () => {
  const all = setUp();
  const body = (ret: number) => `{"user_list":[1,2],"task_list":[{"id":5}],"ret":${ret}}`;
  await pollWith(all, (request) => request.respond(body(7)));
  await pollWith(all, (request) => request.respond(body(0)));
  assert.deepEqual(all.state().snapshot?.counters.invalidRecords.totals, [2, 1]);
});

test('without a response there is no response size', async () => {
  const all = setUp();
  await pollWith(all, (request) => request.fail(reset));
  assert.deepEqual(all.metrics.calls, ['started', 'failed by reset after 0 s']);
});
