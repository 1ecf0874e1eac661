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

test('a task that changes its format in each listing keeps the bytes of the last ones', () => {
  const run = new TallyRun({ perTask: true });
  const formats = Array.from({ length: 50 }, (_, index) => `format-${index}`);
  const listed = formats.map((format) => {
    const tasks = [buildTaskRecord({ outputs: [buildOutputRecord({ format, httpOutputBytes: 5 })] })];
    return Object.keys(readValues(run.commitListing({ tasks }), 'taskHttpOutputBytes'));
  });
  assert.deepEqual(
    listed.at(-1),
    formats.slice(-8).map((format) => `task-1 ${format}`),
  );
});

test('the first tasks keep their places, and a free one goes to the first listed task that has none', () => {
  const run = new TallyRun({ perTask: true, maxTasks: 2 });
  const shown = (...ids: string[]): unknown => {
    const snapshot = run.commitListing({ tasks: ids.map((id) => buildTaskRecord({ id })) });
    return [Object.keys(readValues(snapshot, 'taskStalled')), readValues(snapshot, 'foldedLabelSets')];
  };
  assert.deepEqual(shown('a', 'b', 'c', 'd'), [['a', 'b'], { xvs_task_info: 2 }]);
  assert.deepEqual(shown('d', 'c', 'b', 'a'), [['a', 'b'], { xvs_task_info: 2 }]);
  assert.deepEqual(shown('d', 'c', 'b'), [['b', 'd'], { xvs_task_info: 1 }]);
  run.restart();
  assert.deepEqual(shown('a', 'c', 'd', 'b'), [['b', 'd'], { xvs_task_info: 2 }]);
  assert.deepEqual(shown('d'), [['d'], { xvs_task_info: 0 }]);
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
