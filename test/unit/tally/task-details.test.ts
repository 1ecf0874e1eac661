import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';
import { readSamples, START_MS, TallyRun, readValues } from '../../support/tally-run.ts';
import { familiesOf, TASK_GROUPS } from '../../../src/listing/label-groups.ts';

const outputs = (flv: number, connections: number) => [
  buildOutputRecord({ httpOutputBytes: flv, httpConnectionsNum: connections }),
  buildOutputRecord({ format: 'm3u8' }),
];

test('per-task families are off by default', () => {
  const snapshot = new TallyRun().commitListing({ tasks: [buildTaskRecord()] });
  for (const family of TASK_GROUPS.flatMap((group) => familiesOf(group)))
    assert.deepEqual(readSamples(snapshot, family), []);
});

test('a task has its info, its bytes since its first listing, its connections and its state', () => {
  const run = new TallyRun({ perTask: true, stallAfterMs: 1000 });
  run.commitListing({ tasks: [buildTaskRecord({ inputBytes: 1000, outputs: outputs(500, 1) })] });
  const snapshot = run.commitListing({
    tasks: [buildTaskRecord({ inputBytes: 1200, outputs: outputs(560, 4) })],
  });
  assert.deepEqual(readValues(snapshot, 'taskInfo'), { 'task-1 server-1 flv,m3u8 false': 1 });
  assert.deepEqual(readValues(snapshot, 'taskInputBytes'), { 'task-1': 200 });
  assert.deepEqual(readValues(snapshot, 'taskHttpOutputBytes'), { 'task-1 flv': 60, 'task-1 m3u8': 0 });
  assert.deepEqual(readValues(snapshot, 'taskHttpConnections'), { 'task-1 flv': 4, 'task-1 m3u8': 0 });
  assert.deepEqual(readValues(snapshot, 'taskStalled'), { 'task-1': 0 });
  assert.deepEqual(readValues(snapshot, 'taskProgress'), { 'task-1': 0 });
  assert.deepEqual(readValues(snapshot, 'taskFirstSeen'), { 'task-1': START_MS / 1000 });
});

test('among tasks of equal size, slots stay the same, and the number of other tasks is exposed', () => {
  const run = new TallyRun({ perTask: true, maxTasks: 2 });
  const tasks = (...ids: string[]) => ids.map((id) => buildTaskRecord({ id }));
  const shown = (...ids: string[]): unknown => {
    const snapshot = run.commitListing({ tasks: tasks(...ids) });
    return [Object.keys(readValues(snapshot, 'taskStalled')), readValues(snapshot, 'foldedLabelSets')];
  };
  assert.deepEqual(shown('a', 'b', 'c'), [['a', 'b'], { xvs_task_info: 1 }]);
  assert.deepEqual(shown('c', 'b', 'a'), [['a', 'b'], { xvs_task_info: 1 }]);
  assert.deepEqual(shown('c', 'b'), [['b', 'c'], { xvs_task_info: 0 }]);
});

test('the tasks with the most connections are exposed, then those with the highest input', () => {
  const run = new TallyRun({ perTask: true, maxTasks: 2 });
  const task = (id: string, httpConnectionsNum: number, inputBytes: number) =>
    buildTaskRecord({ id, inputBytes, outputs: [buildOutputRecord({ httpConnectionsNum })] });
  const commit = (...tasks: readonly ReturnType<typeof task>[]) =>
    Object.keys(readValues(run.commitListing({ tasks }), 'taskStalled')).toSorted();
  assert.deepEqual(commit(task('a', 1, 0), task('b', 5, 0), task('c', 0, 900), task('d', 5, 10)), ['b', 'd']);
  // Twice as many connections replace nothing, more than twice as many do.
  assert.deepEqual(commit(task('a', 10, 0), task('b', 5, 0), task('d', 5, 10)), ['b', 'd']);
  assert.deepEqual(commit(task('a', 11, 0), task('b', 5, 0), task('d', 5, 10)), ['a', 'd']);
  assert.deepEqual(commit(task('a', 5, 0), task('b', 8, 0), task('d', 5, 10)), ['a', 'd']);
});

test('the name of a task is the last label of its info, and a task without a name has no such label', () => {
  const run = new TallyRun({ perTask: true });
  const named = (name: string) => buildTaskRecord({ name });
  const read = (task: ReturnType<typeof buildTaskRecord>) =>
    Object.keys(readValues(run.commitListing({ tasks: [task] }), 'taskInfo'));
  assert.deepEqual(read(buildTaskRecord()), ['task-1 server-1 unknown false']);
  assert.deepEqual(read(named('main')), ['task-1 server-1 unknown false main']);
  assert.deepEqual(read(buildTaskRecord()), ['task-1 server-1 unknown false']);
});

test('names beyond a thousand are folded, expected ones never', () => {
  const run = new TallyRun({ perTask: true, maxTasks: 2000 });
  run.tally.expectation = { tasks: 1, names: ['name-1500'] };
  const tasks = Array.from({ length: 1501 }, (_, index) =>
    buildTaskRecord({ id: `task-${index}`, name: `name-${index}` }),
  );
  const names = readSamples(run.commitListing({ tasks }), 'taskInfo').map(({ labels }) => labels.at(-1));
  assert.equal(new Set(names).size, 1002);
  assert.equal(names.filter((name) => name === '__other__').length, 500);
  assert.ok(names.includes('name-1500'));
});
