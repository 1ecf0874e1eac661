import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breakDownListing } from '../../../../src/web/status-page/listing-breakdown.ts';
import { buildOutputRecord, buildTaskRecord, buildUserRecord } from '../../../support/record-builders.ts';
import { SampleColumns } from '../../../../src/metrics/catalogue/sample-columns.ts';
import { pickByteCounters } from '../../../../src/tally/snapshot.ts';
import { START_MS, STEP_MS, TallyRun } from '../../../support/tally-run.ts';

const snapshot = new TallyRun().commitListing({
  users: [
    buildUserRecord({ vsId: 'idle', clientVersion: '1', deviceType: '20' }),
    buildUserRecord({ vsId: 'busy', clientVersion: '2', deviceType: '10' }),
    buildUserRecord({ vsId: 'busy', clientVersion: '2', deviceType: '10' }),
  ],
  tasks: [
    buildTaskRecord({
      id: 'a',
      vsId: 'busy',
      outputs: [
        buildOutputRecord({ format: 'flv', fileName: 'x', httpConnectionsNum: 2 }),
        buildOutputRecord({ format: 'rtmp', fileName: 'y', httpConnectionsNum: 5 }),
      ],
    }),
    buildTaskRecord({
      id: 'b',
      vsId: 'busy',
      outputs: [buildOutputRecord({ format: 'flv', fileName: 'z', httpConnectionsNum: 1 })],
    }),
  ],
});

test('a breakdown lists the servers of users and tasks, the busiest first', () => {
  const common = {
    stalledTasks: 0,
    tasksWithoutInput: 0,
    ingress: undefined,
    egress: undefined,
    lastSeenMs: START_MS,
  };
  assert.deepEqual(breakDownListing(snapshot, undefined).servers, [
    { ...common, vsId: 'busy', users: 2, tasks: 2, connections: 8 },
    { ...common, vsId: 'idle', users: 1, tasks: 0, connections: 0 },
  ]);
});

test('the rates of a server are its bytes since the previous good listing', () => {
  const commit = (run: TallyRun, bytes: number) =>
    run.commitListing({
      tasks: ['a', 'b'].map((vsId) =>
        buildTaskRecord({
          id: vsId,
          vsId,
          inputBytes: bytes,
          outputs: [
            buildOutputRecord({
              format: 'flv',
              fileName: 'x',
              httpOutputBytes: vsId === 'a' ? 2 * bytes : 0,
            }),
            buildOutputRecord({ format: 'rtmp', fileName: 'y', httpOutputBytes: vsId === 'a' ? bytes : 0 }),
          ],
        }),
      ),
    });
  const run = new TallyRun();
  const before = pickByteCounters(commit(run, 1000));
  const after = commit(run, 1000 + STEP_MS);
  assert.deepEqual(
    breakDownListing(after, before).servers.map(({ vsId, ingress, egress }) => [vsId, ingress, egress]),
    [
      ['a', 1000, 3000],
      ['b', 1000, 0],
    ],
  );
});

test('a server whose sum of bytes decreased has no rate', () => {
  const before = { ...pickByteCounters(snapshot), inputBytes: new SampleColumns('TESTING', [['busy']], [5]) };
  const after = { ...snapshot, at: { ...snapshot.at, monotonicMs: snapshot.at.monotonicMs + 1000 } };
  const [busy] = breakDownListing(after, before).servers;
  assert.deepEqual([busy?.ingress, busy?.egress], [undefined, 0]);
});
