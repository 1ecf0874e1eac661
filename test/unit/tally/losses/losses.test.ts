import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TableFamilyKey } from '../../../../src/listing/label-groups.ts';
import { buildOutputRecord, buildTaskRecord, buildUserRecord } from '../../../support/record-builders.ts';
import { readValues, TallyRun } from '../../../support/tally-run.ts';

const MINUTE_MS = 60_000;
const FAMILIES = ['tasksBeforeLoss', 'usersBeforeLoss', 'tasksBeforeIngestStop'] as const;

/** Commits users and tasks; returns what was lost of tasks, users and ingest, `-` if it is unknown. */
function commit(run: TallyRun, users: number, tasks: number, afterMs = MINUTE_MS): string {
  const records = {
    users: Array.from({ length: users }, () => buildUserRecord()),
    tasks: Array.from({ length: tasks }, (_, index) => buildTaskRecord({ id: `${index}` })),
  };
  const snapshot = run.commitListing(records, afterMs);
  return FAMILIES.map((family) => readValues(snapshot, family)[''] ?? '-').join(' ');
}

test('without state, what was lost before is unknown for an hour, but for a loss that begins in sight', () => {
  const run = new TallyRun({ pollIntervalMs: MINUTE_MS });
  assert.equal(commit(run, 30, 12), '- - -');
  assert.equal(commit(run, 30, 12), '- - -');
  assert.equal(commit(run, 3, 12), '- 30 -');
  assert.equal(commit(run, 15, 12), '- 0 -');
  assert.equal(commit(run, 15, 5), '12 0 -');
  assert.equal(commit(run, 15, 6), '0 0 -');
  for (let minute = 6; minute < 60; minute += 1) assert.equal(commit(run, 15, 6), '0 0 -');
  assert.equal(commit(run, 15, 6), '0 0 0');
});

test('a restart with state changes nothing, unless the gap is longer than an hour or unknown', () => {
  const lose = (): TallyRun => {
    const run = new TallyRun({ pollIntervalMs: MINUTE_MS });
    for (const _ of Array.from({ length: 62 })) commit(run, 30, 12);
    assert.equal(commit(run, 3, 12), '0 30 0');
    return run;
  };
  const restarted = lose();
  restarted.restart({}, 50 * MINUTE_MS);
  assert.equal(commit(restarted, 3, 5, 50 * MINUTE_MS), '12 30 0');
  const late = lose();
  late.restart({}, 61 * MINUTE_MS);
  assert.equal(commit(late, 3, 5, 61 * MINUTE_MS), '- - -');
  const backwards = lose();
  backwards.restart({}, MINUTE_MS, -2 * MINUTE_MS);
  assert.equal(commit(backwards, 3, 5), '- - -');
  const outage = lose();
  assert.equal(commit(outage, 3, 5, 61 * MINUTE_MS), '- - -');
});

test('families with labels exist while something is lost', () => {
  const run = new TallyRun({ pollIntervalMs: MINUTE_MS });
  const read = (servers: readonly string[], bytes: number) => {
    const outputs = [buildOutputRecord({ format: 'flv', httpConnectionsNum: 5, httpOutputBytes: 1 })];
    const tasks = servers.map((vsId, index) =>
      buildTaskRecord({ id: `${index}`, vsId, inputBytes: bytes, outputs }),
    );
    const snapshot = run.commitListing({ tasks }, MINUTE_MS);
    const families: readonly TableFamilyKey[] = ['serverTasksBeforeLoss', 'connectionsBeforeStop'];
    return families.map((family) => readValues(snapshot, family));
  };
  assert.deepEqual(read(['a', 'a', 'b', 'b'], 1), [{}, {}]);
  for (const bytes of [2, 3, 4]) read(['a', 'a', 'b', 'b'], bytes);
  for (const bytes of [5, 6]) read(['a', 'a'], bytes);
  assert.deepEqual(read(['a', 'a'], 7), [{ b: 2 }, { 'a flv': 10 }]);
});

test('servers and formats are followed up to the limit of label sets', () => {
  const run = new TallyRun({ pollIntervalMs: MINUTE_MS, maxLabelSets: 3 });
  const servers = ['a', ...Array.from({ length: 9 }, (_, index) => `gone-${index}`)];
  const list = (vsIds: readonly string[]) => ({
    tasks: [...vsIds, ...vsIds].map((vsId, index) => buildTaskRecord({ id: `${index}`, vsId })),
  });
  for (const _ of [1, 2]) run.commitListing(list(servers), MINUTE_MS);
  for (const _ of [1, 2]) run.commitListing(list(['a']), MINUTE_MS);
  const { losses } = run.commitListing(list(['a']), MINUTE_MS);
  assert.deepEqual(
    losses.servers.map(({ vsId }) => vsId),
    ['gone-0', 'gone-1'],
  );
});
