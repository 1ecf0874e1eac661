import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_NOTABLE_TASKS } from '../../../src/tally/notable-tasks.ts';
import { buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';
import { START_MS, STEP_MS, TallyRun } from '../../support/tally-run.ts';

const buildWatchedTask = (id: string, connections: number) =>
  buildTaskRecord({ id, outputs: [buildOutputRecord({ httpConnectionsNum: connections })] });

test('the tasks with the most connections are listed, tasks without connections are not', () => {
  const sizes = fc.array(fc.nat({ max: 5 }), { maxLength: 40 });
  fc.assert(
    fc.property(sizes, (connections) => {
      const tasks = connections.map((count, index) => ({
        id: `task-${String(index).padStart(2, '0')}`,
        count,
      }));
      const { mostWatched } = new TallyRun().commitListing({
        tasks: tasks.map(({ id, count }) => buildWatchedTask(id, count)),
      }).notableTasks;
      const expected = tasks
        .filter(({ count }) => count > 0)
        .toSorted((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1))
        .slice(0, MAX_NOTABLE_TASKS)
        .map(({ id, count }) => ({ id, name: undefined, vsId: 'server-1', connections: count }));
      assert.deepEqual(mostWatched, expected);
    }),
  );
});

test('stalled tasks are listed with the time of their last byte, the longest stalled first', () => {
  const run = new TallyRun({ stallAfterMs: STEP_MS });
  const commit = (early: number, late: number) =>
    run.commitListing({
      tasks: [
        buildTaskRecord({ id: 'late', inputBytes: late }),
        buildTaskRecord({ id: 'early', inputBytes: early }),
        buildTaskRecord({ id: 'never', inputBytes: 0 }),
      ],
    }).notableTasks.longestStalled;
  assert.deepEqual(commit(1, 1), []);
  assert.deepEqual(commit(2, 2), []);
  assert.deepEqual(commit(2, 3), [
    { id: 'early', name: undefined, vsId: 'server-1', sinceMs: START_MS + STEP_MS },
  ]);
  assert.deepEqual(commit(2, 3), [
    { id: 'early', name: undefined, vsId: 'server-1', sinceMs: START_MS + STEP_MS },
    { id: 'late', name: undefined, vsId: 'server-1', sinceMs: START_MS + 2 * STEP_MS },
  ]);
  assert.deepEqual(commit(3, 4), []);
});

test('the id of a listed task is sanitized and truncated like a label value', () => {
  const { mostWatched } = new TallyRun().commitListing({
    tasks: [buildWatchedTask(`\u202E${'x'.repeat(1000)}`, 1)],
  }).notableTasks;
  assert.equal(mostWatched[0]?.id, 'x'.repeat(128));
});
