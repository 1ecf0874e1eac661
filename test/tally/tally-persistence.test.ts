import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { outputIdentity } from '../../src/tally/output-identity.ts';
import { parseStateUnit } from '../../src/tally/state-unit.ts';
import { outputRecord, taskRecord, userRecord } from '../support/task-record.ts';
import { everySample, samplesOf, START_MS, STEP_MS, TallyRun, valuesOf } from '../support/tally-run.ts';

const server = fc.constantFrom('s1', 's2', 's3', undefined);
const output = fc
  .record({
    format: fc.constantFrom('flv', 'm3u8', '\u2028'),
    fileName: fc.constantFrom('x', 'y'),
    httpOutputBytes: fc.nat(10_000),
  })
  .map(outputRecord);
const task = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', '\ud800', '__proto__'),
    vsId: server,
    progress: fc.constantFrom(0, 0, 0, 5),
    inputBytes: fc.option(fc.nat(3), { nil: undefined }),
    outputs: fc.array(output, { maxLength: 3 }),
  })
  .map(taskRecord);
const listing = fc.record({
  users: fc.array(fc.record({ vsId: server }).map(userRecord), { maxLength: 3 }),
  tasks: fc.array(task, { maxLength: 5 }),
  afterMs: fc.constantFrom(STEP_MS, 1, 59_999, 60_000, 61 * 60_000),
});

test('a tally that is restored goes on exactly like the one that was kept', () => {
  fc.assert(
    fc.property(fc.array(listing, { minLength: 2, maxLength: 20 }), fc.nat(19), (listings, at) => {
      const options = { perTask: true };
      const [lasting, restarted] = [new TallyRun(options), new TallyRun(options)];
      for (const [index, { afterMs, ...records }] of listings.entries()) {
        if (index > 0 && index === at % listings.length) restarted.restart();
        const expected = everySample(lasting.list(records, afterMs));
        assert.deepEqual(everySample(restarted.list(records, afterMs)), expected);
      }
    }),
    { numRuns: 500 },
  );
});

const tasks = (inputBytes: number, id = 'a') => [taskRecord({ id, inputBytes })];

test('the first listing after a restart is no baseline: what was gained meanwhile counts, once', () => {
  const run = new TallyRun();
  run.list({ tasks: tasks(1000) });
  run.list({ tasks: tasks(1500) });
  run.restart({}, 60 * 60_000);
  const first = run.list({ tasks: [...tasks(2700), ...tasks(40, 'new')] }, 60 * 60_000);
  assert.deepEqual(valuesOf(first, 'inputBytes'), { 'server-1': 1740 });
  assert.deepEqual(valuesOf(first, 'tasksStarted'), { 'server-1': 1 });
  assert.deepEqual(valuesOf(run.list({ tasks: tasks(2700) }), 'inputBytes'), { 'server-1': 1740 });
});

test('a task that vanished meanwhile ends once, when it was last seen', () => {
  const run = new TallyRun();
  run.list({ tasks: tasks(1) });
  run.list({ tasks: tasks(1) }, 50_000);
  run.restart({}, 24 * 60 * 60_000);
  for (const afterMs of [24 * 60 * 60_000, STEP_MS]) {
    const snapshot = run.list({ tasks: tasks(1, 'other') }, afterMs);
    assert.deepEqual(valuesOf(snapshot, 'tasksEnded'), { 'server-1': 1 });
    const [lifetimes] = samplesOf(snapshot, 'taskLifetime');
    assert.ok(lifetimes !== undefined && 'buckets' in lifetimes);
    assert.deepEqual([lifetimes.sum, lifetimes.buckets.at(-1)], [50, 1]);
  }
});

test('counters keep their time of birth, tasks that of their first sight', () => {
  const run = new TallyRun({ perTask: true });
  run.list({ tasks: tasks(1) });
  run.restart({}, 60_000);
  const snapshot = run.list({ tasks: tasks(2) }, 60_000);
  for (const family of ['inputBytes', 'taskLifetime', 'taskInputBytes'] as const) {
    assert.deepEqual(
      samplesOf(snapshot, family).map(({ created }) => created),
      [START_MS / 1000],
      family,
    );
  }
  assert.deepEqual(valuesOf(snapshot, 'taskFirstSeen'), { a: START_MS / 1000 });
});

test('a task whose input stood still before and after a restart has stalled since', () => {
  const run = new TallyRun({ stallAfterMs: 60_000 });
  run.list({ tasks: tasks(1) });
  run.list({ tasks: tasks(2) });
  run.restart({}, 30_000);
  assert.deepEqual(valuesOf(run.list({ tasks: tasks(2) }, 59_999), 'tasksStalled'), { 'server-1': 0 });
  assert.deepEqual(valuesOf(run.list({ tasks: tasks(2) }, 1), 'tasksStalled'), { 'server-1': 1 });
});

test('a clock that was set back before the restart makes nothing older or younger', () => {
  const run = new TallyRun({ stallAfterMs: 60_000 });
  run.list({ tasks: tasks(1) });
  run.list({ tasks: tasks(2) }, 50_000);
  run.restart({}, 0, -10 * 60 * 60_000);
  assert.deepEqual(valuesOf(run.list({ tasks: tasks(2) }, 59_999), 'tasksStalled'), { 'server-1': 0 });
  assert.deepEqual(valuesOf(run.list({ tasks: tasks(2) }, 1), 'tasksStalled'), { 'server-1': 1 });
  const [lifetimes] = samplesOf(run.list({}), 'taskLifetime');
  assert.ok(lifetimes !== undefined && 'buckets' in lifetimes);
  assert.equal(lifetimes.sum, 110);
});

test('a label set that is idle for an hour, the time between the processes included, gives way', () => {
  const run = new TallyRun({ maxLabelSets: 1 });
  const on = (vsId: string) => ({ tasks: [taskRecord({ id: vsId, vsId })] });
  const halfAnHour = 30 * 60_000;
  run.list(on('s1'));
  run.list({}, halfAnHour);
  run.restart({}, halfAnHour);
  assert.deepEqual(valuesOf(run.list(on('s2'), halfAnHour), 'inputBytes'), { s2: 0 });
});

test('restarts without a good listing between them lose nothing', () => {
  const run = new TallyRun();
  run.list({ tasks: tasks(1000) });
  run.list({ tasks: tasks(1500) });
  for (const afterMs of [60_000, 120_000, 180_000]) run.restart({}, afterMs);
  assert.deepEqual(valuesOf(run.list({ tasks: tasks(1600) }, 200_000), 'inputBytes'), { 'server-1': 600 });
});

test('a tally without a listing keeps nothing, and its first one is a baseline', () => {
  const run = new TallyRun();
  assert.deepEqual([...run.tally.state()], []);
  run.restart();
  assert.deepEqual(valuesOf(run.list({ tasks: tasks(1000) }), 'inputBytes'), { 'server-1': 0 });
});

test('with a smaller limit than before, counters stay, and newcomers fold', () => {
  const run = new TallyRun({ maxLabelSets: 10 });
  const servers = (...names: string[]) => names.map((vsId) => taskRecord({ id: vsId, vsId, inputBytes: 5 }));
  run.list({});
  run.list({ tasks: servers('s1', 's2', 's3') });
  run.restart({ maxLabelSets: 2 });
  const values = () => valuesOf(run.list({ tasks: servers('s1', 's2', 's3', 's4', 's5') }), 'inputBytes');
  assert.deepEqual(values(), { s1: 5, s2: 5, s3: 5, __other__: 0 });
  assert.deepEqual(values(), { s1: 5, s2: 5, s3: 5, __other__: 10 });
  run.restart({ maxLabelSets: 2 });
  assert.deepEqual(values(), { s1: 5, s2: 5, s3: 5, __other__: 10 });
});

test('detail per task may be switched off and on, and its number lowered', () => {
  const run = new TallyRun({ perTask: true });
  const both = (bytes: number) => [...tasks(bytes, 'a'), ...tasks(bytes, 'b')];
  const details = (bytes: number) => valuesOf(run.list({ tasks: both(bytes) }), 'taskInputBytes');
  run.list({});
  run.list({ tasks: both(100) });
  run.restart({ maxTasks: 1 });
  assert.deepEqual(details(110), { a: 110 });
  run.restart({ perTask: false });
  assert.deepEqual(details(120), {});
  run.restart({ perTask: true });
  assert.deepEqual(details(130), { a: 0, b: 0 });
  assert.deepEqual(details(140), { a: 20, b: 20 });
});

test('a unit that is none, or does not fit those before it, is refused', () => {
  for (const raw of [
    undefined,
    null,
    {},
    [],
    ['unit'],
    ['__proto__'],
    ['toString'],
    ['instant', 1],
    ['instant', 1, '2'],
    ['task', 'a', 's', 0, 'task', 1, 0, 0, 8, []],
    ['task', 'a', 's', 0, 'task', 1, 0, 0, 0, [1, 2]],
    ['counter', 'inputs', [], 0, 0, 0],
  ]) {
    assert.equal(parseStateUnit(raw), undefined, JSON.stringify(raw));
  }
  const { tally } = new TallyRun();
  const restoring = tally.restoring({ wallMs: 0, monotonicMs: 0 });
  assert.equal(restoring.take(['code', 'OTHER', 0, 1, 0]), false);
  assert.equal(restoring.take(['code', 'TESTING', 0, 1, 0]), true);
  assert.equal(restoring.take(['code', 'TESTING', 0, 1, 0]), false);
  assert.equal(restoring.take(['server', 's', 0]), false);
  assert.equal(restoring.take(['task', 'a', 's', 0, 'task', 1, 0, 1, 0, []]), false);
});

test('an output is the same as ever: state files hold what identifies it', () => {
  const identities = [
    outputRecord({ format: 'flv', fileName: 'file', tag: 'tag' }),
    outputRecord({ format: undefined, fileName: 'é\u{1f3a5}', tag: '' }),
  ].map(outputIdentity);
  assert.deepEqual(identities, [2922144515522586, 4760747249219070]);
});
