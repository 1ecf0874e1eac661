import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import type { TaskRecord } from '../../support/listing-records.ts';
import {
  buildInputRecord,
  buildOutputRecord,
  buildTaskRecord,
  buildUserRecord,
} from '../../support/record-builders.ts';
import { readLifetimes, TallyRun, readValues, sumValues } from '../../support/tally-run.ts';

/* Regression cases: listings that earlier versions counted wrongly. */

const TB = 1e12;

/** A task with inputs that report their own bytes, and none for the task. */
const mergingTask = (...bytes: readonly [identity: number, bytes: number | undefined][]): TaskRecord =>
  buildTaskRecord({
    inputBytes: undefined,
    inputs: bytes.map(([identity, inputBytes]) => buildInputRecord({ identity, inputBytes })),
  });

/** Commits listings, the last one twice so that every gain is exposed, and returns the last snapshot. */
function commitAll(run: TallyRun, listings: readonly (readonly TaskRecord[])[]) {
  for (const tasks of listings) run.commitListing({ tasks });
  return run.commitListing({ tasks: listings.at(-1) ?? [] });
}

const resetCounts = (snapshot: ReturnType<TallyRun['commitListing']>) =>
  readValues(snapshot, 'byteCountResets');

test('case 1: an input that leaves a merge and returns adds nothing', () => {
  const snapshot = commitAll(new TallyRun(), [
    [mergingTask([1, 1000], [2, 5000])],
    [mergingTask([2, 5000])],
    [mergingTask([2, 5000], [1, 1000])],
    [mergingTask([2, 5000])],
  ]);
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { 'server-1': 0 });
  assert.deepEqual(resetCounts(snapshot), { input: 0, http_output: 0 });
});

test('case 2: a task that is absent for 11 listings resumes its account', () => {
  const run = new TallyRun();
  const task = (bytes: number) => [
    buildTaskRecord({
      inputBytes: TB + bytes,
      outputs: [buildOutputRecord({ httpOutputBytes: TB + bytes })],
    }),
  ];
  run.commitListing({ tasks: task(0) });
  for (let absent = 0; absent < 11; absent += 1) run.commitListing({});
  const snapshot = commitAll(run, [task(13_000)]);
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { 'server-1': 13_000 });
  assert.deepEqual(readValues(snapshot, 'httpOutputBytes'), { 'server-1 flv': 13_000 });
  assert.deepEqual(readValues(snapshot, 'tasksStarted'), { 'server-1': 0 });
});

test('case 2: an account is dropped when its task has been absent for rememberTasksForMs', () => {
  const hour = 3_600_000;
  const tasks = [buildTaskRecord({ inputBytes: 1000 })];
  for (const [awayMs, gained] of [
    [2 * hour - 1, 0],
    [2 * hour, 1000],
  ] as const) {
    const run = new TallyRun({ rememberTasksForMs: 2 * hour });
    run.commitListing({ tasks });
    run.commitListing({}, 1000);
    run.commitListing({ tasks }, awayMs - 1000);
    assert.deepEqual(readValues(run.commitListing({ tasks }), 'inputBytes'), { 'server-1': gained });
  }
});

const createTasks = (...ids: readonly string[]) => ids.map((id) => buildTaskRecord({ id, inputBytes: 100 }));

/** Two service codes with a budget. */
function createRuns(maxAccounts: number): readonly [TallyRun, TallyRun] {
  const accountBudget = new AccountBudget(maxAccounts);
  const runs = [new TallyRun({ accountBudget }), new TallyRun({ accountBudget })] as const;
  for (const { tally } of runs) accountBudget.add(tally.accountShare);
  return runs;
}

test('beyond the budget, the service code with the most accounts loses those that departed first', () => {
  const [large, small] = createRuns(6);
  large.commitListing({ tasks: createTasks('a', 'b', 'c', 'd') });
  large.commitListing({ tasks: createTasks('d') });
  small.commitListing({ tasks: createTasks('a') });
  small.commitListing({ tasks: createTasks('a', 'b', 'c', 'd') });
  const snapshot = large.commitListing({ tasks: createTasks('a', 'c', 'd') });
  assert.deepEqual(readValues(snapshot, 'departedTasksEvicted'), { '': 2 });
  assert.deepEqual(readValues(snapshot, 'tasksStarted'), { 'server-1': 1 });
  assert.deepEqual([...large.records.keys()].filter((key) => key.startsWith('task')).length, 3);
});

test('beyond the budget, the largest service code gets no account for its surplus, which is counted', () => {
  const [large, small] = createRuns(4);
  large.commitListing({ tasks: createTasks('a', 'b', 'c') });
  const tasks = createTasks('a', 'b', 'c', 'd', 'e');
  large.commitListing({ tasks });
  const snapshot = large.commitListing({ tasks });
  assert.deepEqual(readValues(snapshot, 'listingSurplus'), { task: 2 });
  assert.deepEqual(readValues(snapshot, 'tasks'), { 'server-1': 5 });
  small.commitListing({ tasks: createTasks('a', 'b') });
  assert.deepEqual(readValues(small.commitListing({}), 'listingSurplus'), {});
  // There is room again.
  large.commitListing({ tasks: createTasks('a') });
  assert.deepEqual(readValues(large.commitListing({ tasks: createTasks('a', 'e') }), 'listingSurplus'), {
    task: 2,
  });
});

test('case 3: the first valid value of a field that was missing is a baseline', () => {
  const task = (inputBytes: number | undefined, httpOutputBytes: number | undefined) => [
    buildTaskRecord({ inputBytes, outputs: [buildOutputRecord({ httpOutputBytes })] }),
  ];
  for (const before of [[], [[]]]) {
    const snapshot = commitAll(new TallyRun(), [
      ...before,
      task(undefined, undefined),
      task(1000, 2000),
      task(1001, 2002),
    ]);
    assert.deepEqual(readValues(snapshot, 'inputBytes'), { 'server-1': 1 });
    assert.deepEqual(readValues(snapshot, 'httpOutputBytes'), { 'server-1 flv': 2 });
    assert.deepEqual(readValues(snapshot, 'byteCountImplausible'), { input: 0, http_output: 0 });
  }
});

test('case 7: outputs in two folders are two outputs', () => {
  const task = (...folders: readonly [string, number][]) => [
    buildTaskRecord({
      outputs: folders.map(([relativeDir, httpOutputBytes]) =>
        buildOutputRecord({ relativeDir, httpOutputBytes }),
      ),
    }),
  ];
  const snapshot = commitAll(new TallyRun(), [task(['a', 1000], ['b', 500]), task(['b', 1100], ['a', 1001])]);
  assert.deepEqual(readValues(snapshot, 'httpOutputBytes'), { 'server-1 flv': 601 });
});

test('case 8: an output whose tag changes keeps its account', () => {
  const task = (tag: string, httpOutputBytes: number) => [
    buildTaskRecord({ outputs: [buildOutputRecord({ tag, httpOutputBytes })] }),
  ];
  const snapshot = commitAll(new TallyRun(), [task('a', 1e6), task('b', 1e6 + 5)]);
  assert.deepEqual(readValues(snapshot, 'httpOutputBytes'), { 'server-1 flv': 5 });
});

test('case 10: one id on two servers is two tasks, in any order', () => {
  const run = new TallyRun();
  const one = buildTaskRecord({ vsId: 'v1', inputBytes: 1000 });
  const two = buildTaskRecord({ vsId: 'v2', inputBytes: 10_000 });
  const snapshot = commitAll(run, [
    [one, two],
    [two, one],
    [one, two],
  ]);
  assert.deepEqual(readValues(snapshot, 'tasks'), { v1: 1, v2: 1 });
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { v1: 0, v2: 0 });
  assert.deepEqual(resetCounts(snapshot), { input: 0, http_output: 0 });
});

test('case 10: a task that moves ends on one server, starts on the other, and keeps its account', () => {
  const on = (vsId: string, bytes: number) => [
    buildTaskRecord({ vsId, inputBytes: bytes, outputs: [buildOutputRecord({ httpOutputBytes: bytes })] }),
  ];
  const snapshot = commitAll(new TallyRun(), [on('v1', 9000), on('v2', 9010), on('v2', 9015)]);
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { v1: 0, v2: 15 });
  assert.deepEqual(readValues(snapshot, 'httpOutputBytes'), { 'v1 flv': 0, 'v2 flv': 15 });
  assert.deepEqual(readValues(snapshot, 'tasksStarted'), { v1: 0, v2: 1 });
  assert.deepEqual(readValues(snapshot, 'tasksEnded'), { v1: 1, v2: 0 });
  const lifetimes = readLifetimes(snapshot);
  assert.equal(lifetimes.buckets.at(-1), 0);
});

test('case 10: a task that has no value in common with the one that had its id on another server is new', () => {
  const before = buildTaskRecord({ vsId: 'v1', inputBytes: 9000 });
  const after = { ...mergingTask([1, 40]), vsId: 'v2' };
  const snapshot = commitAll(new TallyRun(), [[before], [after]]);
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { v1: 0, v2: 40 });
});

test('case 11: an output counts as unwatched only if its format has had connections', () => {
  const run = new TallyRun();
  type Outputs = readonly [format: string, connections: number | undefined][];
  const task = (...outputs: Outputs) => ({
    tasks: [
      buildTaskRecord({
        outputs: outputs.map(([format, httpConnectionsNum]) =>
          buildOutputRecord({ format, httpConnectionsNum }),
        ),
      }),
    ],
  });
  const unwatched = (...outputs: Outputs) =>
    readValues(run.commitListing(task(...outputs)), 'outputsUnwatched');
  assert.deepEqual(unwatched(['rtmp', 0], ['flv', 0], ['mp4', 0]), {});
  assert.deepEqual(unwatched(['rtmp', 0], ['flv', 1], ['mp4', 0]), { 'server-1 flv': 0 });
  assert.deepEqual(unwatched(['rtmp', 0], ['flv', 0], ['flv', undefined]), { 'server-1 flv': 1 });
});

test('case 15: a task listed in every second poll starts once', () => {
  const run = new TallyRun();
  const tasks = [buildTaskRecord({ inputBytes: 500 })];
  run.commitListing({});
  for (let round = 0; round < 3; round += 1) {
    run.commitListing({ tasks });
    run.commitListing({});
  }
  const snapshot = run.commitListing({});
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { 'server-1': 500 });
  assert.deepEqual(readValues(snapshot, 'tasksStarted'), { 'server-1': 1 });
  assert.deepEqual(readValues(snapshot, 'tasksEnded'), { 'server-1': 1 });
  const lifetimes = readLifetimes(snapshot);
  assert.equal(lifetimes.buckets.at(-1), 1);
});

test('case 17: folding replaces the least bounded label first', () => {
  const run = new TallyRun({ maxLabelSets: 20 });
  const tasks = Array.from({ length: 40 }, (_, server) => {
    const vsId = `s${server}`;
    const outputs = ['flv', 'rtmp'].map((format) =>
      buildOutputRecord({ format, httpConnectionsNum: 2, httpOutputBytes: 100 }),
    );
    return buildTaskRecord({ id: vsId, vsId, outputs });
  });
  run.commitListing({});
  run.commitListing({ tasks });
  const snapshot = run.commitListing({ tasks });
  for (const [family, each] of [
    ['httpConnections', 2],
    ['httpOutputBytes', 100],
  ] as const) {
    const values = readValues(snapshot, family);
    assert.equal(Object.keys(values).length, 22);
    assert.equal(sumValues(values), 80 * each);
    for (const format of ['flv', 'rtmp']) {
      const ofFormat = Object.entries(values).filter(([labels]) => labels.endsWith(` ${format}`));
      assert.equal(sumValues(Object.fromEntries(ofFormat)), 40 * each, `${family} ${format}`);
    }
  }
});

test('case 21: the vs_id __other__ is not counted as folded', () => {
  const run = new TallyRun();
  const tasks = [
    buildTaskRecord({ vsId: '__other__', inputBytes: 5 }),
    buildTaskRecord({ id: 'b', inputBytes: 5 }),
  ];
  run.commitListing({});
  run.commitListing({ tasks });
  const snapshot = run.commitListing({ tasks, users: [buildUserRecord({ vsId: '__other__' })] });
  assert.deepEqual(readValues(snapshot, 'foldedLabelSets'), {});
  assert.deepEqual(readValues(snapshot, 'tasks'), { 'server-1': 1, __other__: 1 });
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { 'server-1': 5, __other__: 5 });
});
