import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import { buildTaskRecord } from '../../support/record-builders.ts';
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
