import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputRecord, taskRecord } from '../support/task-record.ts';
import { samplesOf, START_MS, TallyRun, valuesOf } from '../support/tally-run.ts';
import { TASK_FAMILIES } from '../../src/tally/task-details.ts';

const outputs = (flv: number, connections: number) => [
  outputRecord({ httpOutputBytes: flv, httpConnectionsNum: connections }),
  outputRecord({ format: 'm3u8' }),
];

test('single tasks are not exposed unless it is asked for', () => {
  const snapshot = new TallyRun().list({ tasks: [taskRecord()] });
  for (const family of TASK_FAMILIES) assert.deepEqual(samplesOf(snapshot, family), []);
});

test('a task has its info, its bytes since it was first seen, its connections and its state', () => {
  const run = new TallyRun({ perTask: true, stallAfterMs: 1000 });
  run.list({ tasks: [taskRecord({ inputBytes: 1000, outputs: outputs(500, 1) })] });
  const snapshot = run.list({ tasks: [taskRecord({ inputBytes: 1200, outputs: outputs(560, 4) })] });
  assert.deepEqual(valuesOf(snapshot, 'taskInfo'), { 'task-1 server-1 flv,m3u8 false': 1 });
  assert.deepEqual(valuesOf(snapshot, 'taskInputBytes'), { 'task-1': 200 });
  assert.deepEqual(valuesOf(snapshot, 'taskHttpOutputBytes'), { 'task-1 flv': 60, 'task-1 m3u8': 0 });
  assert.deepEqual(valuesOf(snapshot, 'taskHttpConnections'), { 'task-1 flv': 4, 'task-1 m3u8': 0 });
  assert.deepEqual(valuesOf(snapshot, 'taskStalled'), { 'task-1': 0 });
  assert.deepEqual(valuesOf(snapshot, 'taskProgress'), { 'task-1': 0 });
  assert.deepEqual(valuesOf(snapshot, 'taskFirstSeen'), { 'task-1': START_MS / 1000 });
});

test('the first tasks to come keep their places, and what is left out is told', () => {
  const run = new TallyRun({ perTask: true, maxTasks: 2 });
  const tasks = (...ids: string[]) => ids.map((id) => taskRecord({ id }));
  const shown = (...ids: string[]): unknown => {
    const snapshot = run.list({ tasks: tasks(...ids) });
    return [Object.keys(valuesOf(snapshot, 'taskStalled')), valuesOf(snapshot, 'foldedLabelSets')];
  };
  assert.deepEqual(shown('a', 'b', 'c'), [['a', 'b'], { xvs_task_info: 1 }]);
  assert.deepEqual(shown('c', 'b', 'a'), [['a', 'b'], { xvs_task_info: 1 }]);
  assert.deepEqual(shown('c', 'b'), [['b', 'c'], { xvs_task_info: 0 }]);
});

test('ids that are alike as labels are one series', () => {
  const run = new TallyRun({ perTask: true });
  const long = 'x'.repeat(200);
  const snapshot = run.list({ tasks: [taskRecord({ id: `${long}1` }), taskRecord({ id: `${long}2` })] });
  assert.equal(samplesOf(snapshot, 'taskInfo').length, 1);
});
