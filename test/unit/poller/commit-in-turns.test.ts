import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sumValues, readValues } from '../../support/tally-run.ts';
import { advanceClock } from '../../support/manual-clock.ts';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import { createPolledCode, createPollerHarness, INTERVAL_MS } from './poller-harness.ts';

/** So many that a commit takes several turns of the event loop. */
const TASKS = 3000;

/** A listing of many tasks, each of which has received the same number of bytes. */
function createLargeBody(inputBytes: number): string {
  const tasks = Array.from({ length: TASKS }, (_, number) => ({
    id: `task-${number}`,
    vs_id: `server-${number % 7}`,
    input_bytes: inputBytes,
    inputs: [],
    outputs: [],
  }));
  return JSON.stringify({ ret: 0, user_list: [], task_list: tasks });
}

type Harness = ReturnType<typeof createPollerHarness>;

/** Starts polling one service code; its first listing is committed, the second one is in the middle of its commit. */
async function startCommit(t: TestContext, serviceCodes: readonly string[] = ['A']): Promise<Harness> {
  const harness = createPollerHarness(t, serviceCodes);
  const { clock, client, store, start } = harness;
  start();
  await advanceClock(clock, 0);
  await client.latest.respond(createLargeBody(1000));
  while (store.get('A')?.isUp !== true) await nextTurn();
  await advanceClock(clock, INTERVAL_MS);
  const request = client.requests.findLast(({ target }) => target.serviceCode === 'A');
  await request?.respond(createLargeBody(1010));
  assert.equal(getInputBytes(harness), 0);
  return harness;
}

function getInputBytes({ store }: Harness): number | undefined {
  const snapshot = store.get('A')?.snapshot;
  return snapshot && sumValues(readValues(snapshot, 'inputBytes'));
}

async function getPolls({ exporterMetrics }: Harness, serviceCode: string): Promise<Record<string, number>> {
  const families = await exporterMetrics.collect({ serviceCode });
  const counts = ['xvs_exporter_polls_total', 'xvs_exporter_polls_aborted_total'].map((name) => {
    const [sample] = families.find(({ spec }) => spec.name === name)?.samples ?? [];
    return [name, sample !== undefined && 'value' in sample ? sample.value : Number.NaN];
  });
  return Object.fromEntries(counts);
}

test('the event loop runs during a commit, and the previous listing is exposed until its end', async (t) => {
  const harness = await startCommit(t);
  const before = harness.store.get('A');
  let turns = 0;
  for (; getInputBytes(harness) === 0; turns += 1) {
    assert.equal(harness.store.get('A'), before);
    await nextTurn();
  }
  assert.ok(turns >= 3, `Expected several turns, found ${turns}`);
  assert.equal(getInputBytes(harness), 10 * TASKS);
});

test('a shutdown during a commit waits for its end, and the poll has succeeded', async (t) => {
  const harness = await startCommit(t);
  await harness.poller[Symbol.asyncDispose]();
  assert.equal(getInputBytes(harness), 10 * TASKS);
  const [tally] = harness.poller.tallies;
  assert.equal(tally?.listings, 2);
  assert.deepEqual(await getPolls(harness, 'A'), {
    xvs_exporter_polls_total: 2,
    xvs_exporter_polls_aborted_total: 0,
  });
});

test('a reload that removes a code during its commit waits for its end, and leaves no series', async (t) => {
  const harness = await startCommit(t);
  const { poller, store } = harness;
  const [tally] = poller.tallies;
  await poller.apply([]);
  assert.deepEqual([tally?.listings, store.states], [2, []]);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  assert.deepEqual(store.states, []);
});

test('a reload that changes a code during its commit keeps its listing', async (t) => {
  const harness = await startCommit(t);
  await harness.poller.apply([createPolledCode('A', { stallAfterMs: 1000 })]);
  assert.equal(getInputBytes(harness), 10 * TASKS);
  assert.equal(harness.store.get('A')?.isUp, true);
});

test('a poll of another code that fails during a commit changes only that code', async (t) => {
  const harness = await startCommit(t, ['A', 'B']);
  const other = harness.client.requests.find(({ target }) => target.serviceCode === 'B');
  assert.ok(other !== undefined);
  await other.fail(new UpstreamError('reset', 'The connection to the service broke'));
  assert.deepEqual([getInputBytes(harness), harness.store.get('B')?.isUp], [0, false]);
  while (getInputBytes(harness) === 0) await nextTurn();
  assert.deepEqual([getInputBytes(harness), harness.store.get('A')?.isUp], [10 * TASKS, true]);
  assert.deepEqual(await getPolls(harness, 'B'), {
    xvs_exporter_polls_total: 1,
    xvs_exporter_polls_aborted_total: 0,
  });
});

test('a truncated listing after a commit in turns changes nothing', async (t) => {
  const harness = await startCommit(t);
  while (getInputBytes(harness) === 0) await nextTurn();
  await advanceClock(harness.clock, INTERVAL_MS);
  await harness.client.latest.respond(createLargeBody(2000).slice(0, -2));
  for (let turn = 0; turn < 30; turn += 1) await nextTurn();
  assert.deepEqual([getInputBytes(harness), harness.store.get('A')?.isUp], [10 * TASKS, false]);
  const [tally] = harness.poller.tallies;
  assert.equal(tally?.listings, 2);
});
