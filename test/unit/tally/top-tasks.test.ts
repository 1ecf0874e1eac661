import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_TOP_TASKS } from '../../../src/tally/top-tasks.ts';
import { buildTaskRecord } from '../../support/record-builders.ts';
import { START_MS, STEP_MS, TallyRun } from '../../support/tally-run.ts';

test('stalled tasks are listed with the time of their last byte, the longest stalled first', () => {
  const run = new TallyRun({ stallAfterMs: STEP_MS });
  const commit = (early: number, late: number) =>
    run.commitListing({
      tasks: [
        buildTaskRecord({ id: 'late', inputBytes: late }),
        buildTaskRecord({ id: 'early', inputBytes: early }),
        buildTaskRecord({ id: 'never', inputBytes: 0 }),
      ],
    }).topTasks.longestStalled;
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

test('of more stalled tasks than are listed, the longest stalled are', () => {
  const run = new TallyRun({ stallAfterMs: STEP_MS });
  const ids = Array.from({ length: MAX_TOP_TASKS + 5 }, (_, index) => `task-${index}`);
  const commit = (growing: number) =>
    run.commitListing({
      tasks: ids.map((id, index) => buildTaskRecord({ id, inputBytes: index < growing ? 1 : 2 })),
    }).topTasks.longestStalled;
  commit(ids.length);
  // Each listing lets one task flow a last time.
  for (const index of ids.keys()) commit(ids.length - 1 - index);
  const listed = commit(0).map(({ id }) => id);
  assert.deepEqual(listed, ids.toReversed().slice(0, MAX_TOP_TASKS));
});
