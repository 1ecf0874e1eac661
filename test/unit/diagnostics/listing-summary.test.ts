import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarizeListing } from '../../../src/diagnostics/observe-poll.ts';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import { readInChunks } from '../../support/read-listing.ts';

const stream = {};
const output = (streams: unknown[]) => ({ http_output_bytes: 1, http_connections_num: 0, streams });
const task = (id: string, inputs: unknown[], outputs: unknown[]) => ({ id, inputs, outputs });

test('a summary counts the valid records and keeps the first invalid ones', () => {
  const listing = {
    ret: 0,
    user_list: [{}, 7, { vs_id: 'a' }, { vs_id: 7 }],
    task_list: [
      task('a', [{}], [output([stream, stream])]),
      { id: 'no lists', progress: 'high' },
      task('b', [7, {}], [output([stream, 7])]),
      task('a', [], []),
      { id: 'another', progress: -1 },
      task('c', [7, 7], []),
    ],
  };
  const read = readInChunks(Buffer.from(JSON.stringify(listing)), []);
  assert.deepEqual(summarizeListing({ listing: read, ret: 0, bytes: 0, status: 200 }), {
    users: 3,
    tasks: 5,
    inputs: 2,
    outputs: 2,
    streams: 3,
    invalid: 6,
    firstInvalid: [
      { record: 'user', index: 1, reason: 'not_an_object' },
      { record: 'input', index: 2, reason: 'not_an_object' },
      { record: 'stream', index: 2, reason: 'not_an_object' },
      { record: 'task', index: 3, reason: 'duplicate_id' },
      { record: 'input', index: 5, reason: 'not_an_object' },
    ],
    invalidFields: [
      { record: 'user', field: 'vs_id', count: 1 },
      { record: 'task', field: 'progress', count: 2 },
    ],
  });
});

test('of a listing that failed, a summary counts what was read', () => {
  const error = new UpstreamError('reset', 'The connection to the service broke');
  const failed = { error, users: 7, tasks: 2, ret: 0, bytes: 100, status: 200 };
  const { users, tasks, outputs } = summarizeListing(failed);
  assert.deepEqual([users, tasks, outputs], [7, 2, 0]);
});
