import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import { toTaskKey } from '../../../src/tally/tally-state.ts';
import { buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';
import { readValues, TallyRun } from '../../support/tally-run.ts';

const createTasks = (...ids: readonly string[]) => ids.map((id) => buildTaskRecord({ id, inputBytes: 100 }));

/** Two service codes with a budget. */
function createRuns(maxAccounts: number): readonly [TallyRun, TallyRun] {
  const accountBudget = new AccountBudget(maxAccounts);
  const runs = [new TallyRun({ accountBudget }), new TallyRun({ accountBudget })] as const;
  for (const { tally } of runs) accountBudget.add(tally.accountShare);
  return runs;
}

function listTaskKeys({ records }: TallyRun): readonly string[] {
  return [...records.keys()].filter((key) => key.startsWith('task'));
}

test('beyond the budget, the service code with the most accounts loses those that departed first', () => {
  const [large, small] = createRuns(7);
  large.commitListing({ tasks: createTasks('a', 'b', 'c', 'd') });
  large.commitListing({ tasks: createTasks('d') });
  small.commitListing({ tasks: createTasks('a') });
  small.commitListing({ tasks: createTasks('a', 'b', 'c', 'd') });
  const snapshot = large.commitListing({ tasks: createTasks('a', 'c', 'd') });
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { 'server-1': 100 });
  assert.equal(listTaskKeys(large).length, 3);
});

test('departed accounts of other service codes give way before a byte is lost', () => {
  const [large, small] = createRuns(5);
  small.commitListing({ tasks: createTasks('a', 'b') });
  small.commitListing({ tasks: createTasks('a') });
  large.commitListing({ tasks: createTasks('a', 'b', 'c', 'd') });
  const snapshot = large.commitListing({});
  assert.deepEqual(readValues(snapshot, 'listingSurplus'), {});
  small.commitListing({});
  assert.deepEqual(listTaskKeys(small), ['task\0a']);
});

test('beyond the budget, the largest service code gets no account for its surplus, which is counted', () => {
  const [large, small] = createRuns(4);
  large.commitListing({ tasks: createTasks('a', 'b', 'c') });
  const tasks = createTasks('a', 'b', 'c', 'd', 'e');
  large.commitListing({ tasks });
  const snapshot = large.commitListing({ tasks });
  assert.deepEqual(readValues(snapshot, 'listingSurplus'), { account: 2 });
  assert.deepEqual(readValues(snapshot, 'tasks'), { 'server-1': 5 });
  small.commitListing({ tasks: createTasks('a', 'b') });
  assert.deepEqual(readValues(small.commitListing({}), 'listingSurplus'), {});
  // There is room again.
  large.commitListing({ tasks: createTasks('a') });
  assert.deepEqual(readValues(large.commitListing({ tasks: createTasks('a', 'e') }), 'listingSurplus'), {
    account: 2,
  });
});

test('a code above its equal part gives way to smaller ones with its next listing, expected tasks last', () => {
  const accountBudget = new AccountBudget(31_402);
  const createRun = () => {
    const run = new TallyRun({ accountBudget });
    accountBudget.add(run.tally.accountShare);
    return run;
  };
  const count = (length: number) => Array.from({ length }, (_, index) => buildTaskRecord({ id: `${index}` }));
  const large = createRun();
  large.expect('main');
  const tasks = [...count(31_401), buildTaskRecord({ id: 'expected', name: 'main' })];
  large.commitListing({ tasks });
  const smaller = Array.from({ length: 10 }, createRun);
  for (const [index, run] of smaller.entries()) {
    const snapshot = run.commitListing({ tasks: count(index === 0 ? 2240 : 2241) });
    assert.deepEqual(readValues(snapshot, 'listingSurplus'), {});
  }
  assert.deepEqual(accountBudget.counts, { live: 53_811, departed: 0 });
  const snapshot = large.commitListing({ tasks });
  assert.deepEqual(accountBudget.counts, { live: 31_402, departed: 0 });
  assert.deepEqual(readValues(snapshot, 'listingSurplus'), { account: 22_409 });
  assert.deepEqual(readValues(snapshot, 'tasksEnded'), { 'server-1': 22_409 });
  assert.ok(large.records.has(toTaskKey('expected')));
  assert.deepEqual(large.records, large.allRecords);
});

test('accounts of parts that left a task give way before those of tasks', () => {
  const accountBudget = new AccountBudget(4);
  const [large, small] = [new TallyRun({ accountBudget }), new TallyRun({ accountBudget })];
  for (const { tally } of [large, small]) accountBudget.add(tally.accountShare);
  const output = (fileName: string) => buildOutputRecord({ fileName });
  const list = (...fileNames: readonly string[]) => ({
    tasks: [buildTaskRecord({ id: 'a' }), buildTaskRecord({ id: 'b', outputs: fileNames.map(output) })],
  });
  large.commitListing(list('x', 'y'));
  large.commitListing(list('x'));
  small.commitListing({ tasks: createTasks('a') });
  assert.deepEqual(accountBudget.counts, { live: 5, departed: 0 });
  assert.deepEqual(readValues(large.commitListing(list('x')), 'listingSurplus'), {});
  assert.deepEqual(accountBudget.counts, { live: 4, departed: 0 });
});

test('a task of an expected name takes the account of a task that gave way to it', () => {
  const accountBudget = new AccountBudget(2);
  const run = new TallyRun({ accountBudget });
  accountBudget.add(run.tally.accountShare);
  run.tally.expectation = { tasks: 1, names: ['main'] };
  run.commitListing({ tasks: createTasks('a', 'b') });
  const expected = (inputBytes: number) => buildTaskRecord({ id: 'c', name: 'main', inputBytes });
  // The reader has dropped the last task.
  for (const bytes of [100, 150]) run.commitListing({ tasks: [...createTasks('a'), expected(bytes)] });
  assert.deepEqual(readValues(run.commitListing({}), 'inputBytes'), { 'server-1': 150 });
  assert.deepEqual(accountBudget.counts, { live: 0, departed: 2 });
});
