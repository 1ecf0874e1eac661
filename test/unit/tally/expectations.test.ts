import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ExpectedTasks,
  listExpectedTasks,
  type ExpectedMinima,
  type ExpectedTask,
} from '../../../src/tally/expectations.ts';
import type { TaskReading } from '../../../src/listing/listing.ts';
import { measureHeapBytes } from '../../support/heap.ts';
import { buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';
import { START_MS, STEP_MS, TallyRun } from '../../support/tally-run.ts';

type Tasks = readonly ReturnType<typeof buildTaskRecord>[];

/** Commits listings, and returns what the last one says about the expected name `main`. */
function expectMain(...listings: readonly Tasks[]): ExpectedTask | undefined {
  const run = new TallyRun({ stallAfterMs: STEP_MS });
  run.tally.expectation = { tasks: 1, names: ['main'] };
  return listings.map((tasks) => run.commitListing({ tasks }).expectedTasks[0]).at(-1);
}

const task = (inputBytes: number | undefined, more: Parameters<typeof buildTaskRecord>[0] = {}) =>
  buildTaskRecord({ name: 'main', inputBytes, ...more });

/** Name, listings, and the condition after the last one. */
const TABLE: readonly [name: string, listings: readonly Tasks[], condition: string][] = [
  ['a task that has received input is up', [[task(1)], [task(2)]], 'up'],
  ['a task without the field of input bytes is up', [[task(undefined)]], 'up'],
  ['a task that has never received a byte is not up', [[task(0)]], 'without_input'],
  ['a task whose input does not grow any more is stalled', [[task(1)], [task(2)], [task(2)]], 'stalled'],
  ['a name that is not listed is missing', [[task(1, { name: 'other' })]], 'missing'],
  ['a name is case-sensitive', [[task(1, { name: 'Main' })]], 'missing'],
  ['a task that has left is missing', [[task(1)], [task(2)], []], 'missing'],
  ['a task that reads a file is no live task', [[task(1, { progress: 3 })]], 'missing'],
  [
    'of two tasks with one name, one that is up is enough',
    [
      [task(0), task(1, { id: 'task-2' })],
      [task(0), task(2, { id: 'task-2' })],
    ],
    'up',
  ],
  [
    'a restarted task with the same name is up',
    [[task(1)], [task(2)], [], [task(1, { id: 'task-2' })]],
    'up',
  ],
];

for (const [name, listings, condition] of TABLE) {
  test(name, () => assert.equal(expectMain(...listings)?.condition, condition));
}

test('among a million different names, an expected one is found, and the others are not kept', () => {
  const reading = {
    vsId: 'server-1',
    progress: 0,
    inputCount: 1,
    inputBytes: 1,
    inputs: [],
    protocol: undefined,
    outputs: [],
    connections: 0,
  };
  function* listTasks(): Generator<TaskReading, void> {
    for (let index = 0; index < 1_000_000; index += 1)
      yield { ...reading, id: `task-${index}`, name: `name-${index}` };
  }
  const expected = new ExpectedTasks();
  expected.expectation = { tasks: 2, names: ['name-999999', 'name-1000000'] };
  const before = measureHeapBytes();
  const counting = { ledger: { getTask: () => undefined }, expectedCounters: { get: () => undefined } };
  const found = expected.commit(listTasks(), counting, { wallMs: 1, monotonicMs: 1 });
  assert.ok(measureHeapBytes() - before < 1_000_000);
  const [last, beyond] = found;
  assert.deepEqual([found.length, last?.outputs, beyond?.outputs], [2, 0, undefined]);
});

test('the largest number of outputs of a name counts, and none while it is missing', () => {
  const outputs = (count: number) => Array.from({ length: count }, () => buildOutputRecord());
  const two = task(1, { outputs: outputs(2) });
  const three = task(1, { id: 'task-2', outputs: outputs(3) });
  assert.equal(expectMain([two, three])?.outputs, 3);
  assert.equal(expectMain([two, three], [two])?.outputs, 2);
  assert.equal(expectMain([two], [])?.outputs, undefined);
});

for (const [since, listings, steps] of [
  ['it became up', [[task(1)], [task(2)]], 0],
  ['its input flowed last', [[task(1)], [task(2)], [task(2)], [task(2)]], 1],
  ['it was first seen without input', [[], [task(0)], [task(0)]], 1],
  ['the last listing that had it', [[task(1)], [task(2)], [], []], 1],
  ['the last listing that had it stalled', [[task(1)], [task(2)], [task(2)], []], 2],
  ['unknown', [[], []], undefined],
] as const) {
  test(`the time since when is that when ${since}`, () => {
    const expected = steps === undefined ? undefined : START_MS + steps * STEP_MS;
    assert.equal(expectMain(...listings)?.sinceMs, expected);
  });
}

/** Commits listings of `main`, each with its input bytes and number of outputs. */
function follow(
  minimum: Omit<ExpectedMinima, 'name'>,
  ...listings: readonly (readonly [bytes: number, outputs: number] | undefined)[]
): readonly (ExpectedTask | undefined)[] {
  const run = new TallyRun();
  run.tally.expectation = { tasks: 1, names: ['main'], minima: [{ name: 'main', ...minimum }] };
  return listings.map((listing) => {
    const [bytes, count] = listing ?? [];
    const outputs = Array.from({ length: count ?? 0 }, (_, index) =>
      buildOutputRecord({ fileName: `${index}` }),
    );
    const tasks = bytes === undefined ? [] : [task(bytes, { outputs })];
    return run.commitListing({ tasks }).expectedTasks[0];
  });
}

test('the rate is the mean of two minutes, from two listings on, over restarts of the task', () => {
  const rates = follow({}, [1, 0], [1501, 0], [4501, 0], undefined, [1, 0]).map((found) => found?.inputRate);
  assert.deepEqual(rates, [undefined, 100, 150, undefined, undefined]);
  const steady = Array.from({ length: 20 }, (_, index) => [index < 10 ? 0 : 1500 * index, 0] as const);
  assert.equal(follow({}, ...steady).at(-1)?.inputRate, 100);
});

test('a task that was not up has a rate when it has been up for two minutes', () => {
  const { length: window } = Array.from({ length: 120_000 / STEP_MS });
  const dead = Array.from({ length: 8 }, () => [1, 0] as const);
  const flowing = Array.from({ length: window + 2 }, (_, index) => [1 + 1500 * (1 + index), 0] as const);
  const rates = follow({}, [0, 0], ...dead, ...flowing).map((found) => found?.inputRate);
  assert.deepEqual(rates.slice(-3), [undefined, 100, 100]);
  assert.ok(rates.slice(8, -2).every((rate) => rate === undefined));
});

test('a restart with state does not change how many outputs a task must have', () => {
  const run = new TallyRun();
  run.expect('main');
  const commit = (count: number, afterMs?: number) => {
    const outputs = Array.from({ length: count }, (_, index) => buildOutputRecord({ fileName: `${index}` }));
    return run.commitListing({ tasks: [task(1, { outputs })] }, afterMs).expectedTasks[0]?.dueOutputs;
  };
  assert.deepEqual([commit(3), commit(2)], [3, 3]);
  run.restart();
  assert.deepEqual([commit(2), commit(2, 3_600_000)], [3, 2]);
});

test('a task is slow while it is up and its rate is below the minimum', () => {
  const inputBytesPerSecond = 100;
  const slow = (...listings: readonly (readonly [number, number] | undefined)[]) =>
    follow({ inputBytesPerSecond }, ...listings).map((found) => found?.slowSinceMs);
  assert.deepEqual(slow([1, 0], [1501, 0], [3001, 0]), [undefined, undefined, undefined]);
  const since = START_MS + STEP_MS;
  assert.deepEqual(slow([1, 0], [1001, 0], [2001, 0], [9001, 0]), [undefined, since, since, undefined]);
  assert.deepEqual(slow([1, 0], [1001, 0], undefined), [undefined, since, undefined]);
  // What waits may be more.
  assert.deepEqual(slow([1e6, 0], [1e6 + 1, 0], [10, 0]), [undefined, since, undefined]);
  // It may not tell its input bytes.
  assert.deepEqual(slow([0, 0], [0, 0]), [undefined, undefined]);
});

test('a task has fewer outputs than the minimum or, without one, than within the last hour', () => {
  const fewer = (outputs: number | undefined, ...counts: readonly (number | undefined)[]) =>
    follow({ outputs }, ...counts.map((count) => (count === undefined ? count : ([1, count] as const)))).map(
      (found) => found?.fewerOutputs && [found.outputs, found.fewerOutputs.than, found.fewerOutputs.sinceMs],
    );
  const since = START_MS + STEP_MS;
  assert.deepEqual(fewer(3, 3, 2, 1, 3), [undefined, [2, 3, since], [1, 3, since], undefined]);
  assert.deepEqual(fewer(undefined, 3, 2, undefined, 2), [
    undefined,
    [2, 3, since],
    undefined,
    [2, 3, since + 2 * STEP_MS],
  ]);
});

test('another expectation takes effect with the next listing', () => {
  const run = new TallyRun();
  const commit = () => run.commitListing({ tasks: [task(1)] }).expectedTasks.map(({ name }) => name);
  assert.deepEqual(commit(), []);
  run.tally.expectation = { tasks: 2, names: ['main', 'backup'] };
  assert.deepEqual(commit(), ['main', 'backup']);
  run.tally.expectation = { tasks: 5, names: [] };
  assert.deepEqual(commit(), []);
});

test('an expectation that is removed, renamed and added in the middle of a stall loses nothing of it', () => {
  const run = new TallyRun({ stallAfterMs: STEP_MS });
  run.expect('main');
  const read = (inputBytes: number) =>
    run
      .commitListing({ tasks: [task(inputBytes)] })
      .expectedTasks.map(({ name, condition, sinceMs = 0 }) => [
        name,
        condition,
        (sinceMs - START_MS) / STEP_MS,
      ]);
  for (const inputBytes of [1, 2]) read(inputBytes);
  assert.deepEqual(read(2), [['main', 'stalled', 1]]);
  run.expect();
  assert.deepEqual(read(2), []);
  run.expect('backup', 'main');
  const [backup, main] = read(2);
  assert.deepEqual([backup?.[1], main], ['missing', ['main', 'stalled', 1]]);
  assert.deepEqual(read(3)[1], ['main', 'up', 5]);
});

test('names that the last listing was not searched for are unknown', () => {
  const recent = expectMain([task(1)]);
  const unknown = { condition: 'unknown', outputs: undefined, sinceMs: undefined };
  assert.deepEqual(listExpectedTasks({ tasks: 2, names: ['main', 'new'] }, recent && [recent]), [
    recent,
    { name: 'new', ...unknown },
  ]);
  assert.deepEqual(listExpectedTasks({ tasks: 1, names: ['main'] }, undefined), [
    { name: 'main', ...unknown },
  ]);
  assert.deepEqual(listExpectedTasks(undefined, recent && [recent]), []);
});
