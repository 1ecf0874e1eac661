import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breakDownListing } from '../../../src/web/listing-breakdown.ts';
import { buildOutputRecord, buildTaskRecord, buildUserRecord } from '../../support/record-builders.ts';
import { START_MS, TallyRun } from '../../support/tally-run.ts';

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
    lastSeenMs: START_MS,
    egress: undefined,
  };
  assert.deepEqual(breakDownListing(snapshot).servers, [
    { ...common, vsId: 'busy', users: 2, tasks: 2, connections: 8 },
    { ...common, vsId: 'idle', users: 1, tasks: 0, connections: 0 },
  ]);
});
