import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { advanceClock } from '../../support/manual-clock.ts';
import { createPolledCode, createRig, INTERVAL_MS, type Rig } from './rig.ts';

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

/** Starts polling a service code; its first listing is committed, the second one is in the middle of its commit. */
async function startCommit(t: TestContext): Promise<Rig> {
  const rig = createRig(t);
  const { clock, client, store, start, getInputBytes } = rig;
  start();
  await advanceClock(clock, 0);
  await client.latest.respond(createLargeBody(1000));
  while (store.get('A')?.isUp !== true) await nextTurn();
  await advanceClock(clock, INTERVAL_MS);
  await client.latest.respond(createLargeBody(1010));
  assert.equal(getInputBytes(), 0);
  return rig;
}

test('the event loop runs during a commit, and the previous listing is exposed until its end', async (t) => {
  const { store, getInputBytes } = await startCommit(t);
  const before = store.get('A');
  let turns = 0;
  for (; getInputBytes() === 0; turns += 1) {
    assert.equal(store.get('A'), before);
    await nextTurn();
  }
  assert.ok(turns >= 3, `Expected several turns, found ${turns}`);
  assert.equal(getInputBytes(), 10 * TASKS);
});

test('a shutdown during a commit waits for its end, and the poll has succeeded', async (t) => {
  const { poller, count, getInputBytes } = await startCommit(t);
  await poller[Symbol.asyncDispose]();
  assert.equal(getInputBytes(), 10 * TASKS);
  assert.equal(poller.tallies[0]?.listings, 2);
  assert.deepEqual([await count('polls'), await count('pollsAborted')], [2, 0]);
});

test('a reload that removes a code during its commit waits for its end, and leaves no series', async (t) => {
  const { poller, store } = await startCommit(t);
  const [tally] = poller.tallies;
  await poller.apply([]);
  assert.deepEqual([tally?.listings, store.states], [2, []]);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  assert.deepEqual(store.states, []);
});

test('a reload that changes a code during its commit keeps its listing', async (t) => {
  const { poller, getState, getInputBytes } = await startCommit(t);
  await poller.apply([createPolledCode('A', { stallAfterMs: 1000 })]);
  assert.equal(getInputBytes(), 10 * TASKS);
  assert.equal(getState().isUp, true);
});
