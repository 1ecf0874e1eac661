import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import { readInstant } from '../../../src/runtime/instant.ts';
import { createListingBody } from '../../support/manual-client.ts';
import { advanceClock } from '../../support/manual-clock.ts';
import { render } from '../../support/render.ts';
import { START_MS } from '../../support/tally-run.ts';
import { createPolledCode, createRig, INTERVAL_MS, RESET, type Rig } from './rig.ts';

const A = createPolledCode('A');
const B = createPolledCode('B');
const C = createPolledCode('C');
const withSecret = (serviceCode: string, secret: string) => createPolledCode(serviceCode, { secret });

/** Advances the clock and responds to every request; `input_bytes` grows by 100 per second. */
async function runWithResponses({ clock, client }: Rig, ms: number, stepMs: number): Promise<void> {
  for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += stepMs) {
    const before = client.requests.length;
    await advanceClock(clock, stepMs);
    for (const request of client.requests.slice(before)) {
      await request.respond(createListingBody((request.atMs - START_MS) / 10));
    }
  }
}

test('an unchanged code keeps its schedule and its running poll', async (t) => {
  const rig = createRig(t);
  const { clock, client, poller, start } = rig;
  await start();
  const running = client.latest;
  await advanceClock(clock, 1000);
  assert.deepEqual(await poller.apply([A]), {
    added: [],
    changed: [],
    kept: [A],
    expectationChanged: [],
    relabelled: [],
    removed: [],
  });
  assert.equal(running.signal.aborted, false);
  await running.respond(createListingBody(0));
  await runWithResponses(rig, 2 * INTERVAL_MS, 1000);
  assert.deepEqual(rig.getRequestTimesMs(), [0, INTERVAL_MS, 2 * INTERVAL_MS]);
});

test('names that a reload removes are hidden at once, and those that it adds appear with the next listing', async (t) => {
  const { client, poller, store, clock, pollOnce } = createRig(t);
  const expecting = (...names: readonly string[]) =>
    createPolledCode('A', {
      taskName: 'opaque',
      expectation: { tasks: names.length, names, minima: names.map((name) => ({ name, outputs: 1 })) },
    });
  const body = (bytes: number) => {
    const outputs = [{ format: 'flv', http_connections_num: 1 }];
    const tasks = ['main', 'backup'].map((name) => ({ id: name, opaque: name, input_bytes: bytes, outputs }));
    return JSON.stringify({ ret: 0, user_list: [], task_list: tasks });
  };
  const poll = (bytes: number) => pollOnce((request) => request.respond(body(bytes)));
  const read = (): unknown =>
    ['main', 'backup'].map((name) =>
      render(store.collectFamilies(readInstant(clock), store.states, 'total'), 'text')
        .split('\n')
        .filter((line) => line.includes(`task_name="${name}"`))
        .map((line) => line.replace(/^xvs_expected_task_|\{.*\}/g, '')),
    );
  await poller.apply([expecting('main')]);
  await poll(1000);
  await poll(1200);
  const minimum = 'due_outputs 1';
  const numbers = (bytes: number) => [
    'http_connections 1',
    'up 1',
    'outputs 1',
    minimum,
    `input_bytes_total ${bytes}`,
    'http_output_bytes_total 0',
  ];
  assert.deepEqual(read(), [numbers(200), []]);
  await poller.apply([expecting('backup')]);
  assert.deepEqual(read(), [[], [minimum]]);
  await poller.apply([expecting('main', 'backup')]);
  assert.deepEqual((read() as string[][])[1], [minimum]);
  await pollOnce((request) => request.fail(RESET));
  assert.deepEqual((read() as string[][])[1], ['up 0', minimum]);
  await poll(1500);
  assert.deepEqual(read(), [numbers(500), numbers(0)]);
  assert.equal(client.requests.length, 4);
});

test('a changed code keeps its ledger and its counters, and is polled immediately with the new settings', async (t) => {
  const rig = createRig(t);
  const { clock, client, poller, start, count, getInputBytes } = rig;
  await start();
  await client.latest.respond(createListingBody(0));
  await runWithResponses(rig, 2 * INTERVAL_MS, 1000);
  assert.equal(getInputBytes(), 3000);

  await advanceClock(clock, 1000);
  await poller.apply([withSecret('A', 'new')]);
  await advanceClock(clock, 0);
  assert.deepEqual([client.requestTimesMs.at(-1), client.latest.target.secret], [clock.now(), 'new']);
  await client.latest.respond(createListingBody(3500));
  assert.equal(getInputBytes(), 3500);
  assert.equal(count('polls'), 4);
});

test('the running poll of a changed code is aborted, and does not count', async (t) => {
  const { clock, client, poller, store, start, count } = createRig(t);
  await start();
  const old = client.latest;
  await poller.apply([withSecret('A', 'new')]);
  assert.equal(old.signal.aborted, true);
  await old.respond(createListingBody(7));
  assert.equal(store.get('A')?.lastPoll, undefined);
  await advanceClock(clock, 0);
  assert.equal(client.latest.target.secret, 'new');
  assert.equal(count('polls'), 0);
  await client.latest.respond(createListingBody(7));
  assert.equal(count('polls'), 1);
});

test('a new interval and a new stale_after apply immediately', async (t) => {
  const rig = createRig(t);
  const { clock, client, poller, store, start } = rig;
  await start();
  await client.latest.respond(createListingBody(0));
  await poller.apply([createPolledCode('A', { intervalMs: 1000, staleAfterMs: 3000 })]);
  assert.equal(store.get('A')?.staleAfterMs, 3000);
  await advanceClock(clock, 0);
  await client.latest.respond(createListingBody(0));
  await runWithResponses(rig, 3000, 1000);
  assert.deepEqual(rig.getRequestTimesMs(), [0, 0, 1000, 2000, 3000]);
});

test('a new stall_after applies from the next listing on', async (t) => {
  const { clock, client, poller, store, start } = createRig(t);
  const stalled = (): unknown => store.get('A')?.snapshot?.rows.accounts.columns.tasksStalled[0];
  await start();
  await client.latest.respond(createListingBody(0));
  await advanceClock(clock, INTERVAL_MS);
  await client.latest.respond(createListingBody(100));
  await advanceClock(clock, INTERVAL_MS);
  await client.latest.respond(createListingBody(100));
  assert.equal(stalled(), 0);
  await poller.apply([createPolledCode('A', { stallAfterMs: INTERVAL_MS })]);
  await advanceClock(clock, 0);
  await client.latest.respond(createListingBody(100));
  assert.equal(stalled(), 1);
});

test('a pause that the service asked for survives a new secret, but not a new address', async (t) => {
  const { clock, client, poller, start, getState } = createRig(t);
  await start();
  const throttled = new UpstreamError('http_status', 'Expected 2xx', { status: 429, retryAfterMs: 60_000 });
  await client.latest.fail(throttled);
  await poller.apply([withSecret('A', 'new')]);
  await advanceClock(clock, 0);
  assert.equal(client.requests.length, 1);
  assert.equal(getState().failure?.pausedUntilMs, clock.monotonic() + 60_000);
  await poller.apply([createPolledCode('A', { baseUrl: 'http://[::1]' })]);
  await advanceClock(clock, 0);
  assert.equal(client.requests.length, 2);
  assert.equal(getState().failure?.pausedUntilMs, undefined);
});

test('a removed code leaves no series after its poll has ended', async (t) => {
  const { client, poller, store, start, count } = createRig(t, ['A', 'B']);
  client.isAbortable = false;
  await start();
  const removed = client.latest;
  let isApplied = false;
  const applied = poller.apply([B]).then((diff) => {
    isApplied = true;
    return diff;
  });
  await nextTurn();
  assert.deepEqual([removed.signal.aborted, isApplied], [true, false]);
  assert.notEqual(store.get('A'), undefined);
  await removed.fail(removed.signal.reason);
  assert.deepEqual((await applied).removed, [A]);
  assert.deepEqual([store.get('A'), count('polls')], [undefined, undefined]);
  assert.equal(count('polls', 'B'), 0);
});

test('a code that was removed and added again starts from zero', async (t) => {
  const rig = createRig(t);
  const { clock, client, poller, start, count, getInputBytes } = rig;
  await start();
  await client.latest.respond(createListingBody(0));
  await runWithResponses(rig, INTERVAL_MS, 1000);
  assert.equal(getInputBytes(), 1500);
  await poller.apply([B]);
  await poller.apply([A]);
  assert.equal(count('polls'), 0);
  await advanceClock(clock, 0);
  await client.latest.respond(createListingBody(9000));
  assert.equal(getInputBytes(), 0);
});

test('added codes are polled soon, one after the other', async (t) => {
  const { clock, client, poller, start } = createRig(t, []);
  await start();
  await poller.apply([A, B, C]);
  for (let elapsedMs = 0; elapsedMs < 1000; elapsedMs += 50)
    await advanceClock(clock, elapsedMs === 0 ? 0 : 50);
  assert.deepEqual(
    client.requests.map(({ atMs, target }) => [target.serviceCode, atMs - START_MS]),
    [
      ['A', 0],
      ['B', 100],
      ['C', 200],
    ],
  );
});

test('the exporter stays ready when a code is added', async (t) => {
  const { client, poller, start } = createRig(t);
  await start();
  await client.latest.respond(createListingBody(0));
  await poller.apply([A, B]);
  assert.equal(poller.updateReadiness(), true);
});

test('an unready exporter becomes ready with the first poll of the codes that replaced the others', async (t) => {
  const { clock, client, poller, start } = createRig(t);
  await start();
  await poller.apply([B]);
  assert.equal(poller.updateReadiness(), false);
  await advanceClock(clock, 0);
  await client.latest.respond(createListingBody(0));
  assert.equal(poller.updateReadiness(), true);
});
