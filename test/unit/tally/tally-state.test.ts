import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AccountBudget } from '../../../src/tally/account-budget.ts';
import type { TaskRecord } from '../../support/listing-records.ts';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { hashTexts } from '../../support/text-hash.ts';
import { REMEMBERED_MS } from '../../../src/tally/ledger/departed-accounts.ts';
import type { Snapshot } from '../../../src/tally/snapshot.ts';
import { CODE_KEY, toTaskKey, type StateRecord } from '../../../src/tally/tally-state.ts';
import {
  buildInputRecord,
  buildOutputRecord,
  buildTaskRecord,
  buildUserRecord,
} from '../../support/record-builders.ts';
import { readAllSamples, readLifetimes, STEP_MS, TallyRun, readValues } from '../../support/tally-run.ts';
import { createRunParameters } from '../../support/run-parameters.ts';

const server = fc.constantFrom('s1', 's2', 's3', undefined);
const output = fc
  .record({
    format: fc.constantFrom('flv', 'm3u8', '\u2028'),
    fileName: fc.constantFrom('x', 'y'),
    httpOutputBytes: fc.nat(10_000),
  })
  .map(buildOutputRecord);
const input = fc.record({ identity: fc.nat(2), inputBytes: fc.nat(10_000) }).map(buildInputRecord);
const task = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', '\ud800', '__proto__'),
    name: fc.constantFrom('main', 'backup', undefined),
    vsId: server,
    progress: fc.constantFrom(0, 0, 0, 5),
    inputBytes: fc.option(fc.nat(3), { nil: undefined, freq: 2 }),
    inputs: fc.array(input, { maxLength: 3 }),
    outputs: fc.array(output, { maxLength: 3 }),
  })
  .map(buildTaskRecord);
const listing = fc.record({
  users: fc.array(fc.record({ vsId: server }).map(buildUserRecord), { maxLength: 3 }),
  tasks: fc.array(task, { maxLength: 5 }),
  afterMs: fc.constantFrom(STEP_MS, 1, 59_999, 60_000, 61 * 60_000, REMEMBERED_MS),
  names: fc.subarray(['main', 'backup', 'other']),
});

/**
 * The tasks of a listing with bytes that grow from listing to listing: values that wait do so again after a
 * restart.
 */
const growing = (tasks: readonly TaskRecord[], index: number): TaskRecord[] =>
  tasks.map((record) => ({
    ...record,
    inputBytes: record.inputBytes === undefined ? undefined : record.inputBytes + 4 * index,
    inputs: record.inputs.map((one) => ({ ...one, inputBytes: (one.inputBytes ?? 0) + 10_001 * index })),
    outputs: record.outputs.map((one) => ({
      ...one,
      httpOutputBytes: (one.httpOutputBytes ?? 0) + 10_001 * index,
    })),
  }));

/** Reads all samples except the number of folded label sets, which is not persisted. */
const readPersistedSamples = (snapshot: Snapshot) =>
  readAllSamples(snapshot).filter(([name]) => name !== CATALOGUE.foldedLabelSets.name);

test('a restored tally continues exactly like one that was never stopped', () => {
  fc.assert(
    fc.property(fc.array(listing, { minLength: 2, maxLength: 20 }), fc.nat(19), (listings, at) => {
      const options = { perTask: true };
      const [lasting, restarted] = [new TallyRun(options), new TallyRun(options)];
      for (const [index, { afterMs, users, tasks: ungrown, names }] of listings.entries()) {
        const records = { users, tasks: growing(ungrown, index) };
        if (index > 0 && index === at % listings.length) restarted.restart({}, 1);
        for (const run of [lasting, restarted]) run.expect(...names);
        const expected = readPersistedSamples(lasting.commitListing(records, afterMs));
        assert.deepEqual(readPersistedSamples(restarted.commitListing(records, afterMs)), expected);
      }
    }),
    createRunParameters(500),
  );
});

const tasks = (inputBytes: number, id = 'a') => [buildTaskRecord({ id, inputBytes })];

test('the time without new input goes on over a restart, whether the clock was set back or not', () => {
  for (const [setBackMs, elapsedMs] of [
    [0, 30_000],
    [10 * 60 * 60_000, 0],
  ] as const) {
    const run = new TallyRun({ stallAfterMs: 60_000 });
    run.commitListing({});
    run.commitListing({ tasks: tasks(1) });
    run.commitListing({ tasks: tasks(2) }, 50_000);
    run.restart({}, elapsedMs, -setBackMs);
    const readStalled = (afterMs: number) =>
      readValues(run.commitListing({ tasks: tasks(2) }, afterMs), 'tasksStalled');
    assert.deepEqual(readStalled(59_999), { 'server-1': 0 });
    assert.deepEqual(readStalled(1), { 'server-1': 1 });
    assert.equal(readLifetimes(run.commitListing({})).sum, 110);
  }
});

test('a restart can disable and enable per-task metrics and lower their maximum', () => {
  const run = new TallyRun({ perTask: true });
  const both = (bytes: number) => [...tasks(bytes, 'a'), ...tasks(bytes, 'b')];
  const details = (bytes: number) => readValues(run.commitListing({ tasks: both(bytes) }), 'taskInputBytes');
  run.commitListing({});
  run.commitListing({ tasks: both(100) });
  run.restart({ maxTasks: 1 });
  assert.deepEqual(details(110), { a: 110 });
  run.restart({ perTask: false });
  assert.deepEqual(details(120), {});
  run.restart({ perTask: true });
  assert.deepEqual(details(130), { a: 10, b: 10 });
  assert.deepEqual(details(140), { a: 20, b: 20 });
});

test('the records that commits have changed are all records', () => {
  fc.assert(
    fc.property(fc.array(listing, { minLength: 1, maxLength: 10 }), fc.nat(9), (listings, restartAt) => {
      const accountBudget = new AccountBudget(5);
      const run = new TallyRun({ perTask: true, accountBudget });
      accountBudget.add(run.tally.accountShare);
      for (const [index, { afterMs, ...records }] of listings.entries()) {
        if (index === restartAt) run.restart();
        run.commitListing(records, afterMs);
        assert.deepEqual(run.records, run.allRecords);
      }
    }),
    createRunParameters(300),
  );
});

test('records that are invalid or not all there change nothing', () => {
  const run = new TallyRun();
  run.commitListing({ tasks: tasks(5) });
  const code = [CODE_KEY, run.records.get(CODE_KEY) ?? ''] as const;
  const taskValue = run.records.get(toTaskKey('a')) ?? '';
  const record = [toTaskKey('a'), taskValue] as const;
  run.commitListing({ tasks: tasks(6) });
  const laterCode = [CODE_KEY, run.records.get(CODE_KEY) ?? ''] as const;
  const restore = (
    records: readonly StateRecord[],
  ): [isRestored: boolean, listings: number, accounts: number] => {
    const { tally } = new TallyRun();
    return [tally.restore(records, { wallMs: 0, monotonicMs: 0 }), tally.listings, tally.accountShare.size];
  };
  assert.deepEqual(restore([code, record]), [true, 1, 1]);
  assert.deepEqual(restore([code, [toTaskKey('with\0zero'), taskValue]]), [true, 1, 1]);
  const invalid: readonly (readonly StateRecord[])[] = [
    [],
    [record],
    [code],
    [code, record, [toTaskKey('b'), taskValue]],
    [laterCode, record],
    [code, record, ['else', '[]']],
    [[CODE_KEY, taskValue], record],
    [[CODE_KEY, code[1].slice(0, -1)], record],
    [code, code],
    [code, ['else', taskValue]],
    [code, ['__proto__', taskValue]],
    [code, [record[0], code[1]]],
    [code, [record[0], taskValue.slice(0, -1)]],
    [code, [record[0], taskValue.replace('[', '["x",')]],
    [[CODE_KEY, code[1].replace('"inputBytes"', '"else"')], record],
    [[CODE_KEY, code[1].replace('[["server-1"]]', '["server-1"]')], record],
  ];
  for (const records of invalid) assert.deepEqual(restore(records), [false, 0, 0], JSON.stringify(records));
});

test('the hash that identifies an output never changes, because the state contains it', () => {
  const identities = [
    buildOutputRecord({ format: 'flv', relativeDir: 'live', fileName: 'file' }),
    buildOutputRecord({ format: undefined, relativeDir: 'é\u{1f3a5}', fileName: '' }),
  ].map(({ format, relativeDir, fileName }) => hashTexts([format, relativeDir, fileName]));
  assert.deepEqual(identities, [3149215452696963, 4760747249219070]);
});
