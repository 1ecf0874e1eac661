import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import type { CodeState } from '../../../src/poller/store.ts';
import { readInstant } from '../../../src/runtime/instant.ts';
import { createListingBody } from '../../support/manual-client.ts';
import { advanceClock } from '../../support/manual-clock.ts';
import { START_MS } from '../../support/tally-run.ts';
import { createRig, INTERVAL_MS, RESET } from './rig.ts';

const GOOD = createListingBody(0);
const STOPPING = new Error('Stopping');
const INTERNAL_ERROR = new TypeError('Expected a function');
const overloaded = (retryAfterMs: number) => ({ status: 503, retryAfterMs });

describe('periodic polls', () => {
  it('do not begin before the start', async (t) => {
    const { clock, client, store, poller } = createRig(t, ['A', 'B']);
    await advanceClock(clock, INTERVAL_MS);
    assert.equal(client.requests.length, 0);
    assert.deepEqual(
      store.states.map(({ serviceCode, lastPoll, snapshot }) => [serviceCode, lastPoll, snapshot]),
      [
        ['A', undefined, undefined],
        ['B', undefined, undefined],
      ],
    );
    assert.equal(poller.updateReadiness(), false);
    assert.equal(poller.getPlan('A', clock.monotonic())?.nextPollInMs, undefined);
  });

  it('are spread over the interval, and each service code keeps its own schedule', async (t) => {
    const { clock, client, start, getRequestTimesMs } = createRig(t, ['A', 'B', 'C']);
    await start();
    for (let elapsedMs = 0; elapsedMs <= 2 * INTERVAL_MS; elapsedMs += 5000) {
      await advanceClock(clock, elapsedMs === 0 ? 0 : 5000);
      await client.latest.respond(GOOD);
    }
    assert.deepEqual(getRequestTimesMs(), [0, 5000, 10_000, 15_000, 20_000, 25_000, 30_000]);
  });

  it('with a long interval begin within a minute, and then keep their places in the interval', async (t) => {
    const rig = createRig(t, ['A', 'B'], { intervalMs: 600_000 });
    await rig.start();
    for (let elapsedMs = 0; elapsedMs < 1_500_000; elapsedMs += 15_000) {
      await advanceClock(rig.clock, elapsedMs === 0 ? 0 : 15_000);
      if (rig.client.requests.length > rig.store.states.reduce((sum, { polls }) => sum + polls.ended, 0))
        await rig.client.latest.respond(GOOD);
      if (elapsedMs === 30_000) assert.equal(rig.poller.updateReadiness(), true);
    }
    assert.deepEqual(rig.getRequestTimesMs(), [0, 30_000, 300_000, 600_000, 900_000, 1_200_000]);
  });

  it('run at the interval, whatever their duration and outcome', async (t) => {
    const { clock, client, start, getRequestTimesMs } = createRig(t);
    await start();
    for (const tookMs of [300, 14_999, 0]) {
      await advanceClock(clock, tookMs);
      await (tookMs === 300 ? client.latest.fail(RESET) : client.latest.respond(GOOD));
      await advanceClock(clock, INTERVAL_MS - tookMs);
    }
    assert.deepEqual(getRequestTimesMs(), [0, 15_000, 30_000, 45_000]);
  });

  it('that are due while another runs are skipped as overlaps', async (t) => {
    const { clock, client, start, count, getRequestTimesMs } = createRig(t, ['A'], { intervalMs: 1000 });
    await start();
    for (const ms of [900, 900, 900]) await advanceClock(clock, ms);
    assert.deepEqual([client.requests.length, count('pollsSkipped')], [1, 0]);
    await client.latest.respond(GOOD);
    assert.equal(count('pollsSkipped'), 2);
    await advanceClock(clock, 299);
    assert.equal(client.requests.length, 1);
    await advanceClock(clock, 1);
    assert.deepEqual(getRequestTimesMs(), [0, 3000]);
  });

  it('resume on the grid after a pause that the service asked for', async (t) => {
    const { clock, client, start, count, getRequestTimesMs } = createRig(t);
    await start();
    await client.latest.respond('', overloaded(30_001));
    for (const skipped of [1, 2]) {
      await advanceClock(clock, INTERVAL_MS);
      assert.deepEqual([client.requests.length, count('pollsSkipped')], [1, skipped]);
    }
    await advanceClock(clock, INTERVAL_MS);
    await client.latest.respond('', overloaded(INTERVAL_MS));
    // This pause ends when the next poll is due.
    await advanceClock(clock, INTERVAL_MS);
    assert.deepEqual(getRequestTimesMs(), [0, 45_000, 60_000]);
    assert.equal(count('pollsSkipped'), 2);
  });

  it('are planned: the address, the interval and the next poll', async (t) => {
    const { clock, client, poller, start } = createRig(t);
    const getPlan = () => poller.getPlan('A', clock.monotonic());
    const plan = { origin: 'http://127.0.0.1', intervalMs: INTERVAL_MS, isPaused: false };
    await start();
    assert.deepEqual(getPlan(), { ...plan, nextPollInMs: 0 });
    await client.latest.respond('', overloaded(20_000));
    // The poll at 15 s falls into the pause until 20 s.
    assert.deepEqual(getPlan(), { ...plan, isPaused: true, nextPollInMs: 30_000 });
    await advanceClock(clock, INTERVAL_MS);
    await advanceClock(clock, 5000);
    assert.deepEqual(getPlan(), { ...plan, nextPollInMs: 10_000 });
  });

  it('end with the disposal, which aborts the running ones', async (t) => {
    const { clock, client, poller, start, getState, count } = createRig(t, ['A', 'B']);
    await start();
    await poller[Symbol.asyncDispose]();
    await advanceClock(clock, 10 * INTERVAL_MS);
    assert.deepEqual([client.requests.length, client.latest.signal.aborted], [1, true]);
    assert.deepEqual([getState().lastPoll, count('polls')], [undefined, 0]);
  });

  it('report an internal error', async (t) => {
    const { clock, client, poller, getState } = createRig(t, ['A', 'B']);
    const failed = assert.rejects(poller.start(), INTERNAL_ERROR);
    await advanceClock(clock, 0);
    await client.latest.fail(INTERNAL_ERROR);
    await failed;
    assert.equal(getState().lastPoll, undefined);
  });
});

describe('one poll of every service code', () => {
  it('ends the first round, successful or not', async (t) => {
    const { client, poller } = createRig(t, ['A', 'B']);
    const polled = poller.pollOnce(new AbortController().signal);
    await nextTurn();
    const [first, second] = client.requests;
    await first?.respond(GOOD);
    assert.equal(poller.updateReadiness(), false);
    await second?.fail(new UpstreamError('dns', 'The name of the service could not be resolved'));
    await polled;
    assert.equal(poller.updateReadiness(), true);
  });

  it('rejects with the reason of an abort', async (t) => {
    const { client, poller, count } = createRig(t, ['A', 'B']);
    await assert.rejects(poller.pollOnce(AbortSignal.abort(STOPPING)), STOPPING);
    assert.equal(client.requests.length, 0);
    const stop = new AbortController();
    const rejected = assert.rejects(poller.pollOnce(stop.signal), STOPPING);
    await nextTurn();
    stop.abort(STOPPING);
    await rejected;
    assert.equal(count('polls'), 0);
  });

  it('causes no warning of a leak with many service codes', async (t) => {
    const codes = Array.from({ length: 20 }, (_, index) => `CODE_${index}`);
    const { client, poller } = createRig(t, codes);
    const warnings: Error[] = [];
    const record = (warning: Error): void => void warnings.push(warning);
    process.on('warning', record);
    t.after(() => process.off('warning', record));
    const { signal } = new AbortController();
    const polled = poller.pollOnce(signal);
    assert.equal(getEventListeners(signal, 'abort').length, codes.length);
    for (const request of client.requests) await request.respond(GOOD);
    await polled;
    await nextTurn();
    assert.deepEqual(warnings, []);
  });
});

/** Returns a state without its listing; times in milliseconds since the start. */
function summarize({ ret, httpStatus, failure, lastPoll, snapshot }: CodeState) {
  const since = (wallMs: number | undefined) => (wallMs === undefined ? undefined : wallMs - START_MS);
  const times = [lastPoll?.atMs, snapshot?.at.monotonicMs, snapshot?.at.wallMs].map(since);
  return [failure === undefined, ret, httpStatus, failure?.reason, ...times];
}

describe('the state of a service code', () => {
  it('follows failure, success and recovery, and keeps the last good listing', async (t) => {
    const { clock, pollOnce, getState } = createRig(t);
    for (const [answer, expected] of [
      [{ text: '<html>', status: 502 }, [false, undefined, 502, 'http_status', 0, undefined, undefined]],
      [{ text: GOOD, status: 200 }, [true, 0, 200, undefined, 15_000, 15_000, 15_000]],
      [{ text: '{"ret":1005}', status: 200 }, [false, 1005, 200, 'api_error', 30_000, 15_000, 15_000]],
      [undefined, [false, undefined, undefined, 'reset', 45_000, 15_000, 15_000]],
      [{ text: GOOD, status: 200 }, [true, 0, 200, undefined, 60_000, 60_000, 60_000]],
    ] as const) {
      await pollOnce((request) =>
        answer === undefined ? request.fail(RESET) : request.respond(answer.text, { status: answer.status }),
      );
      assert.deepEqual(summarize(getState()), expected);
      clock.advance(INTERVAL_MS);
    }
    assert.deepEqual(
      getState()
        .history.entries()
        .map(({ errorCode }) => errorCode),
      [502, undefined, 1005, undefined, undefined],
    );
  });

  it('has a remedy that suggests TLS only until a poll succeeds without', async (t) => {
    const { pollOnce, getState, lines } = createRig(t);
    const failAndFindRemedies = async (): Promise<string> => {
      await pollOnce((request) => request.fail(RESET));
      return getState().failure?.remedies.join(' ') ?? '';
    };
    assert.match(await failAndFindRemedies(), /may expect TLS/);
    assert.equal(lines.at(-1)?.['remedy'], getState().failure?.remedies[0]);
    await pollOnce((request) => request.respond(GOOD));
    assert.doesNotMatch(await failAndFindRemedies(), /TLS/);
  });

  it('has no remedy that suggests TLS if another service code is polled without, or an earlier process did', async (t) => {
    const { poller, client, getState } = createRig(t, ['A', 'B']);
    const polled = poller.pollOnce(new AbortController().signal);
    await nextTurn();
    await client.requests[0]?.respond(GOOD);
    await client.requests[1]?.fail(RESET);
    await polled;
    assert.doesNotMatch(getState('B').failure?.remedies.join(' ') ?? '', /TLS/);
    const restarted = createRig(t, ['A'], { restored: poller.tallies.slice(0, 1) });
    await restarted.pollOnce((request) => request.fail(RESET));
    assert.doesNotMatch(restarted.getState().failure?.remedies.join(' ') ?? '', /TLS/);
  });

  it('has a remedy that names the first invalid byte of a listing', async (t) => {
    const { pollOnce, getState } = createRig(t);
    await pollOnce((request) => request.respond(String.raw`{"ret":0,"user_list":[],"task_list":["\q"]}`));
    assert.match(
      getState().failure?.remedies.join(' ') ?? '',
      /^The listing is invalid at byte 39: the JSON/,
    );
  });

  it('is down with the listing of another service code, unless its own records never named it', async (t) => {
    const list = (serviceCode: string | undefined): string => {
      const task = { id: 'task-1', vs_id: 'v1', input_bytes: 1, service_code: serviceCode };
      return JSON.stringify({ ret: 0, user_list: [{ service_code: serviceCode }], task_list: [task] });
    };
    const { pollOnce, getState } = createRig(t);
    const poll = async (serviceCode: string | undefined): Promise<unknown> => {
      await pollOnce((request) => request.respond(list(serviceCode)));
      return getState().failure === undefined;
    };
    assert.deepEqual([await poll('B'), await poll(undefined), await poll('A')], [true, true, true]);
    const { snapshot } = getState();
    assert.equal(await poll('B'), false);
    const { failure, snapshot: kept } = getState();
    assert.equal(failure?.reason, 'bad_shape');
    assert.match(failure.remedies.join(' '), /a cache in front of the service ignores the query/);
    assert.equal(kept, snapshot);
    assert.deepEqual([await poll(undefined), await poll('A')], [true, true]);
  });

  for (const name of ['back', 'forward'] as const)
    it(`keeps the ages of its timestamps when the wall clock is set ${name} by an hour`, async (t) => {
      const { clock, pollOnce, store } = createRig(t);
      const readAges = (): readonly number[] =>
        [CATALOGUE.lastPoll, CATALOGUE.lastSuccess, CATALOGUE.serverLastSeen].map((spec) => {
          const family = [...store.collectFamilies(readInstant(clock))].find((found) => found.spec === spec);
          assert.ok(family !== undefined && 'numbers' in family.samples);
          return clock.now() / 1000 - (family.samples.numbers[0] ?? Number.NaN);
        });
      await pollOnce((request) => request.respond(GOOD));
      await advanceClock(clock, 4000);
      await pollOnce((request) => request.fail(RESET));
      await advanceClock(clock, 1000);
      assert.deepEqual(readAges(), [1, 5, 5]);
      clock.setWallClockForward(name === 'back' ? -3_600_000 : 3_600_000);
      assert.deepEqual(readAges(), [1, 5, 5]);
    });

  it('has the duration of the poll from its start to its commit', async (t) => {
    const { clock, pollOnce, getState } = createRig(t);
    await pollOnce((request) => {
      clock.advance(250);
      return request.respond(GOOD);
    });
    assert.equal(getState().lastPoll?.durationMs, 250);
  });

  it('counts invalid records only of good listings', async (t) => {
    const { pollOnce, getState } = createRig(t);
    const body = (ret: number) => `{"user_list":[1,2],"task_list":[{"id":5}],"ret":${ret}}`;
    await pollOnce((request) => request.respond(body(7)));
    await pollOnce((request) => request.respond(body(0)));
    assert.deepEqual(getState().snapshot?.rows.invalidRecords.columns.invalidRecords, [2, 1]);
  });
});
