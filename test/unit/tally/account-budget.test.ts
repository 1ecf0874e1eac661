import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import { toTaskKey } from '../../../src/tally/tally-state.ts';
import { buildInputRecord, buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';
import { readValues, sumValues, TallyRun } from '../../support/tally-run.ts';

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

const createTaskWithOutput = (fileName: string) =>
  buildTaskRecord({ id: 'a', inputBytes: 100, outputs: [buildOutputRecord({ fileName })] });

/** A run whose only task has renamed its output, and what follows has to hold for. */
function runWithDepartedOutput(accountBudget: AccountBudget): TallyRun {
  const run = new TallyRun({ accountBudget });
  accountBudget.add(run.tally.accountShare);
  for (const fileName of ['x', 'y']) run.commitListing({ tasks: [createTaskWithOutput(fileName)] });
  assert.deepEqual(accountBudget.counts, { live: 2, departed: 1 });
  return run;
}

test('accounts of outputs that left a live task are departed ones, and give way to new tasks', () => {
  const accountBudget = new AccountBudget(3);
  const run = runWithDepartedOutput(accountBudget);
  const tasks = [createTaskWithOutput('y'), ...createTasks('b')];
  assert.deepEqual(readValues(run.commitListing({ tasks }), 'listingSurplus'), {});
  assert.deepEqual(accountBudget.counts, { live: 3, departed: 0 });
  assert.deepEqual(run.records, run.allRecords);
});

test('accounts of inputs that left a merge are departed ones, too', () => {
  const accountBudget = new AccountBudget(3);
  const run = new TallyRun({ accountBudget });
  accountBudget.add(run.tally.accountShare);
  const merge = (...identities: readonly number[]) => {
    const inputs = identities.map((identity) => buildInputRecord({ identity, inputBytes: 100 }));
    return buildTaskRecord({ id: 'a', inputBytes: undefined, inputs });
  };
  for (const identities of [[1, 2], [1]]) run.commitListing({ tasks: [merge(...identities)] });
  assert.deepEqual(accountBudget.counts, { live: 1, departed: 1 });
  const tasks = [merge(1), ...createTasks('b', 'c')];
  assert.deepEqual(readValues(run.commitListing({ tasks }), 'listingSurplus'), {});
  assert.deepEqual(accountBudget.counts, { live: 3, departed: 0 });
});

test('departed outputs leave room for a listing that is being read, which may fail, and give way to other codes', () => {
  const accountBudget = new AccountBudget(3);
  const { accountShare } = runWithDepartedOutput(accountBudget).tally;
  assert.deepEqual([accountShare.reserve(3), accountShare.reserve(1)], [true, false]);
  accountShare.release(3);
  assert.deepEqual(accountBudget.counts, { live: 2, departed: 1 });
  const other = new TallyRun({ accountBudget });
  accountBudget.add(other.tally.accountShare);
  assert.deepEqual(readValues(other.commitListing({ tasks: createTasks('a') }), 'listingSurplus'), {});
  assert.deepEqual(accountBudget.counts, { live: 3, departed: 0 });
});

test('at a full budget, what returns finds its account, whatever is listed before it or failed', () => {
  const output = (fileName: string) => buildOutputRecord({ fileName, httpOutputBytes: 50 });
  const task = (id: string, ...fileNames: readonly string[]) =>
    buildTaskRecord({ id, inputBytes: 50, outputs: fileNames.map(output) });
  const both = [task('a', 'x', 'y')];
  for (const [listings, places, bytes] of [
    [[both, [task('a', 'x')], both, [task('a', 'x')], both], 3, 150],
    [[[task('a'), task('b')], [], [task('c'), task('a')]], 2, 150],
    [[[task('a', 'x')], [task('a', 'y')], [task('b'), task('a', 'x')]], 3, 200],
  ] as const) {
    const accountBudget = new AccountBudget(places);
    const run = new TallyRun({ accountBudget });
    const share = run.tally.accountShare;
    accountBudget.add(share);
    let snapshot = run.commitListing({});
    for (const tasks of listings) {
      assert.ok(share.reserve(places));
      share.release(places);
      snapshot = run.commitListing({ tasks });
    }
    const keys = ['inputBytes', 'httpOutputBytes'] as const;
    assert.equal(sumValues(Object.assign({}, ...keys.map((key) => readValues(snapshot, key)))), bytes);
  }
});

test('departed outputs fill what is left of the budget', () => {
  const accountBudget = new AccountBudget(4);
  const run = runWithDepartedOutput(accountBudget);
  for (const [fileName, departed] of [
    ['z', 2],
    ['u', 0],
    ['v', 1],
  ] as const) {
    run.commitListing({ tasks: [createTaskWithOutput(fileName)] });
    assert.deepEqual(accountBudget.counts, { live: 2, departed });
  }
});

test('the departed parts of a task are at most as many as it lists, at least four; the longest give way', () => {
  for (const [outputs, departed] of [
    [1, 4],
    [9, 10],
  ] as const) {
    const accountBudget = new AccountBudget(1000);
    const run = new TallyRun({ accountBudget });
    accountBudget.add(run.tally.accountShare);
    const commit = (generation: number) => {
      const list = Array.from({ length: outputs }, (_, index) =>
        buildOutputRecord({ fileName: `${generation}-${index}`, httpOutputBytes: 1 }),
      );
      const task = buildTaskRecord({ id: 'a', inputBytes: 100, outputs: list });
      return readValues(run.commitListing({ tasks: [task] }), 'httpOutputBytes')['server-1 flv'];
    };
    for (let generation = 0; generation < 7; generation += 1) commit(generation);
    assert.deepEqual(accountBudget.counts, { live: 1 + outputs, departed });
    assert.deepEqual([commit(5), commit(0)], [6 * outputs, 7 * outputs]);
    run.restart();
    assert.deepEqual([commit(5), commit(1)], [7 * outputs, 8 * outputs]);
  }
});

test('departed outputs leave with their task, return with it, and are restored', () => {
  const accountBudget = new AccountBudget(9);
  const run = runWithDepartedOutput(accountBudget);
  run.commitListing({});
  assert.deepEqual(accountBudget.counts, { live: 0, departed: 3 });
  run.commitListing({ tasks: [createTaskWithOutput('y')] });
  assert.deepEqual(accountBudget.counts, { live: 2, departed: 1 });
  accountBudget.remove(run.tally.accountShare);
  run.restart();
  accountBudget.add(run.tally.accountShare);
  assert.deepEqual(accountBudget.counts, { live: 2, departed: 1 });
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
