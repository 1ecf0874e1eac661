import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListingNotes } from '../../src/explain/listing-notes.ts';
import { ListingReader } from '../../src/listing/reader.ts';

const stream = {};
const output = (streams: unknown[]) => ({ http_output_bytes: 1, http_connections_num: 0, streams });
const task = (id: string, inputs: unknown[], outputs: unknown[]) => ({ id, inputs, outputs });

test('it counts what is good, and says where the first entries stand that are not', () => {
  const notes = new ListingNotes();
  const reader = new ListingReader(notes);
  const listing = {
    ret: 0,
    user_list: [{}, 7, { vs_id: 'a' }, { vs_id: 7 }],
    task_list: [
      task('a', [{}], [output([stream, stream])]),
      { id: 'no lists' },
      task('b', [7, {}], [output([stream, 7])]),
      task('a', [], []),
      task('c', [7], []),
    ],
  };
  reader.write(Buffer.from(JSON.stringify(listing)));
  reader.end();
  assert.deepEqual(notes.listing, {
    users: 2,
    tasks: 3,
    inputs: 2,
    outputs: 2,
    streams: 3,
    invalid: 7,
    firstInvalid: [
      { place: 'user_list[1]', reason: 'not_an_object' },
      { place: 'user_list[3]', reason: 'wrong_type' },
      { place: 'task_list[1]', reason: 'missing_field' },
      { place: 'an input of task_list[2]', reason: 'not_an_object' },
      { place: 'a stream of task_list[2]', reason: 'not_an_object' },
    ],
  });
});
