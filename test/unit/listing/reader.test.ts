import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCounts } from '../../../src/listing/rows.ts';
import { ReadError } from '../../../src/json-columns/read-error.ts';
import { readableFields } from '../../../src/listing/interface.ts';
import { OWN_INPUT, type Listing } from '../../../src/listing/listing.ts';
import type { RecordKind } from '../../../src/listing/task-list.ts';
import { CHECKED_FIELDS } from '../../../src/listing/task-list.ts';
import { listEach, viewListing, type ListingView } from '../../support/listing-view.ts';
import { POLLED_CODE, readInChunks } from '../../support/read-listing.ts';
import { readFixture } from '../../support/fixtures.ts';

const EMPTY = '{"ret":0,"user_list":[],"task_list":[]}';

const read = (text: string): Listing => readInChunks(Buffer.from(text), []);

function failure(body: string | Buffer): ReadError {
  try {
    readInChunks(Buffer.from(body), []);
  } catch (error) {
    if (error instanceof ReadError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: `Expected ${body.toString()} to be rejected` });
}

test('the sample listing has one user and one task with three outputs', () => {
  const listing = readInChunks(readFixture('sample-listing.json'), []);
  const { users, invalid, foreign, sums } = viewListing(listing);
  assert.deepEqual([users, invalid, foreign], [1, [], {}]);
  assert.deepEqual(sums['onlineUsers'], { '451|10': 1 });
  assert.deepEqual(sums['serverOnlineUsers'], { 'aws-cn_north_1-5': 1 });
  assert.deepEqual(sums['inputClients'], { '10|451': 1 });
  const { tasks, rows } = listing;
  const [task] = tasks.values();
  assert.equal(tasks.size, 1);
  assert.equal(task?.id, 'aws-cn_north_1-5-7d4bb08e1ada4741');
  assert.equal(task.protocol, 'tcp_upload');
  assert.deepEqual(task.inputs, [{ identity: OWN_INPUT, bytes: 7340032 }]);
  const outputs = task.outputs.map(({ outputRow, bytes }) =>
    [...(rows.outputs.labelSets[outputRow] ?? []), bytes].join(' '),
  );
  assert.deepEqual(outputs.toSorted(), [
    'aws-cn_north_1-5 flv 1048576',
    'aws-cn_north_1-5 m3u8 0',
    'aws-cn_north_1-5 rtmp 0',
  ]);
});

test('a listing holds no URL, user name or opaque', () => {
  const listing = readInChunks(readFixture('sample-listing.json'), []);
  assert.doesNotMatch(JSON.stringify(viewListing(listing)), /vs-5\.example\.com|room|user_name|"001"/);
});

const REJECTED_BODIES = {
  not_json: [
    ['', 'more input, found the end of the body at byte 0'],
    ['<html>', 'a value, found "<" (0x3c) at byte 0'],
    ['{"ret":0,"user_list":[{"vs_id":"a', 'more input, found the end of the body at byte 33'],
    [`${EMPTY} x`, 'the end of the body, found "x" (0x78) at byte 40'],
    ['{"ret":0,"user_list":[{},],"task_list":[]}', 'a value, found "]" (0x5d) at byte 25'],
    ['{"ret":00,"user_list":[],"task_list":[]}', 'a JSON number, found "0" (0x30) at byte 7'],
    ['{"ret":0,"x":"a\nb"}', 'an escaped control character in a string, found 0x0a at byte 15'],
    [`\uFEFF${EMPTY}`, 'a value, found 0xef at byte 0'],
  ],
  bad_shape: [
    ['[]', 'an object as the body, found another value at byte 0'],
    ['12', 'an object as the body, found another value at byte 0'],
    ['{"user_list":[],"task_list":[]}', 'a member "ret", found none at byte 31'],
    ['{"ret":0,"task_list":[]}', 'a member "user_list", found none at byte 24'],
    ['{"ret":0,"user_list":[]}', 'a member "task_list", found none at byte 24'],
    ['{"ret":0,"task_list":null}', 'an array as "task_list", found another value at byte 21'],
    ['{"ret":null}', 'an integer as "ret", found another value at byte 7'],
    ['{"ret":0.5}', 'an integer as "ret", found another value at byte 10'],
    ['{"ret":"ok"}', 'an integer as "ret", found another value at byte 11'],
    ['{"ret":0,"user_list":[],"user_list":[]}', 'one member "user_list", found a duplicate at byte 36'],
  ],
} as const;

for (const [code, table] of Object.entries(REJECTED_BODIES)) {
  for (const [text, expectation] of table) {
    test(`${JSON.stringify(text)} is rejected as ${code}: expected ${expectation}`, () => {
      const error = failure(text);
      assert.deepEqual([error.code, error.message], [code, `Expected ${expectation}`]);
    });
  }
}

const TASK_LISTS = '"inputs":[],"outputs":[]';

interface ReadEntry {
  readonly view: ListingView;
  /** Each kind and reason, once for each entry. */
  readonly rejected: readonly (readonly string[])[];
}

/** Reads a listing with one entry between two valid ones, all in the same list. */
function readEntry(list: 'user_list' | 'task_list', entry: string): ReadEntry {
  const other = list === 'user_list' ? 'task_list' : 'user_list';
  const [first, last] = list === 'user_list' ? ['{}', '{}'] : ['{"id":"first"}', '{"id":"last"}'];
  const listing = read(`{"ret":0,"${other}":[],"${list}":[${first},${entry},${last}]}`);
  const view = viewListing(listing);
  const validCount = list === 'user_list' ? view.users : view.tasks.length;
  assert.ok(validCount >= 2, 'Expected both valid entries');
  const rejected = listEach(listing.rows.invalidRecords);
  return { view, rejected };
}

test('an entry is rejected only if it is not an object or a task without a valid id', async (t) => {
  const table: [string, 'user_list' | 'task_list', string, [string, string][]][] = [
    ['a user that is a number', 'user_list', '5', [['user', 'not_an_object']]],
    ['a user that is null', 'user_list', 'null', [['user', 'not_an_object']]],
    ['a user that is an array', 'user_list', '[{}]', [['user', 'not_an_object']]],
    ['an empty user', 'user_list', '{}', []],
    ['a task that is a string', 'task_list', '"t"', [['task', 'not_an_object']]],
    ['a task without id', 'task_list', `{${TASK_LISTS}}`, [['task', 'missing_field']]],
    ['a task whose id is null', 'task_list', `{"id":null,${TASK_LISTS}}`, [['task', 'missing_field']]],
    ['a task with an empty id', 'task_list', `{"id":"",${TASK_LISTS}}`, [['task', 'missing_field']]],
    ['a task whose id is a number', 'task_list', `{"id":5,${TASK_LISTS}}`, [['task', 'wrong_type']]],
    ['a task whose id is too long', 'task_list', `{"id":"${'i'.repeat(129)}"}`, [['task', 'invalid_id']]],
    ['a task whose id has a control character', 'task_list', '{"id":"a\\u0000"}', [['task', 'invalid_id']]],
    ['a task whose id has a lone surrogate', 'task_list', '{"id":"a\\ud800"}', [['task', 'invalid_id']]],
    ['a task whose id is invisible', 'task_list', '{"id":"\\u200b"}', [['task', 'invalid_id']]],
    ['a task whose id has 128 characters', 'task_list', `{"id":"${'😀'.repeat(128)}"}`, []],
    ['a task with nothing but an id', 'task_list', '{"id":"t"}', []],
    ['an input that is a string', 'task_list', '{"id":"t","inputs":["x",{}]}', [['input', 'not_an_object']]],
    ['an empty input and output', 'task_list', '{"id":"t","inputs":[{}],"outputs":[{}]}', []],
    ['an output that is null', 'task_list', '{"id":"t","outputs":[null]}', [['output', 'not_an_object']]],
    [
      'a stream that is an array',
      'task_list',
      '{"id":"t","outputs":[{"streams":[[],{}]}]}',
      [['stream', 'not_an_object']],
    ],
    [
      'entries of a task without id',
      'task_list',
      '{"inputs":[5],"outputs":[5]}',
      [['task', 'missing_field']],
    ],
    [
      'entries of a task with an invalid id',
      'task_list',
      '{"id":"\\u200b","inputs":[5],"outputs":[5,{"streams":[5]}]}',
      [['task', 'invalid_id']],
    ],
    [
      'entries of a duplicate',
      'task_list',
      '{"id":"first","inputs":[5],"outputs":[5,{"streams":[5]}]}',
      [['task', 'duplicate_id']],
    ],
    ['entries of a list that a duplicate replaces', 'task_list', '{"id":"t","inputs":[5],"inputs":[]}', []],
    ['entries of a list that null replaces', 'task_list', '{"id":"t","inputs":[5],"inputs":null}', []],
  ];
  for (const [name, list, entry, rejected] of table) {
    await t.test(name, () => {
      const result = readEntry(list, entry);
      assert.deepEqual(result.rejected, rejected);
      assert.deepEqual(result.view.invalidFields, []);
    });
  }
});

test('unknown keys of any number, length and order leave the known ones readable', () => {
  const keys = Array.from({ length: 40 }, (_, index) => `key${'-'.repeat(index)}${index}`);
  const users = keys.map((key, index) => ({
    [key]: index,
    vs_id: 's',
    [`${key}2`]: { vs_id: 'nested' },
    client_version: 7,
    ...Object.fromEntries(keys.slice(index).map((other) => [other, other])),
    device_type: 'd',
  }));
  const body = JSON.stringify({ ret: 0, user_list: [...users, ...users.toReversed()], task_list: [] });

  const { sums, invalid } = viewListing(read(body));
  assert.deepEqual(sums['onlineUsers'], { '7|d': 80 });
  assert.deepEqual(sums['serverOnlineUsers'], { s: 80 });
  assert.deepEqual(invalid, []);
});

test('an invalid field counts as missing, and the rest of the record stands', async (t) => {
  const counts =
    'task.input_bytes input.input_bytes output.width output.height output.http_output_bytes ' +
    'output.http_connections_num stream.bit_rate';
  const labels =
    'user.client_version user.device_type input.device_type input.device_version input.client_version';
  // Fields, a right value of theirs, and wrong ones.
  const kinds: readonly (readonly [string, string, readonly string[]])[] = [
    [labels, '7', ['0.5', '9007199254740992', 'true', '[]', '{}']],
    [counts, '7', ['"5"', '-1', '0.5', '9007199254740992', '1e999', 'true', '[]', '{}']],
    [
      'stream.codec_type stream.codec_id stream.copy',
      '1',
      ['"5"', '0.5', '-9007199254740992', '1e999', '[]', '{}'],
    ],
    ['task.progress', '0.42', ['"5"', '-1', '-0.1', '1e999', 'true', '[]', '{}']],
    ['task.inputs task.outputs output.streams', '[{}]', ['5', '"x"', 'true', '{}']],
  ];
  const text = ['', '"x"', ['5', 'true', '[]', '{}']] as const;
  const wrap: Readonly<Record<RecordKind, (member: string) => string>> = {
    user: (member) => `{${member}}`,
    task: (member) => `{"id":"t",${member}}`,
    input: (member) => `{"id":"t","inputs":[{${member}}]}`,
    // A picture size needs both fields.
    output: (member) => `{"id":"t","outputs":[{"width":1,"height":1,${member}}]}`,
    stream: (member) => `{"id":"t","outputs":[{"streams":[{${member}}]}]}`,
  };
  for (const [record, field] of CHECKED_FIELDS) {
    await t.test(`${record}.${field}`, () => {
      const list = record === 'user' ? 'user_list' : 'task_list';
      const readMember = (member: string): ListingView => readEntry(list, wrap[record](member)).view;
      const [, right, wrong] =
        kinds.find(([fields]) => fields.split(' ').includes(`${record}.${field}`)) ?? text;
      const absent = readMember(`"${field}":null`);
      assert.deepEqual(absent.invalidFields, []);

      const valid = readMember(`"${field}":${right}`);
      assert.deepEqual(valid.invalidFields, []);
      assert.notDeepEqual(valid, absent, 'Expected the valid value to count');
      for (const value of wrong) {
        for (const member of [`"${field}":${value}`, `"${field}":${right},"${field}":${value}`]) {
          const { invalidFields, ...rest } = readMember(member);
          assert.deepEqual(invalidFields, [`${record}.${field}`], member);
          assert.deepEqual({ ...rest, invalidFields: [] }, absent, member);
        }
        assert.deepEqual(readMember(`"${field}":${value},"${field}":${right}`), valid);
      }
    });
  }
});

test('the reader checks the fields of the schema', () => {
  const fields = Object.entries(readableFields).flatMap(([record, schema]) =>
    Object.keys(schema.shape).map((field) => `${record}.${field}`),
  );
  assert.deepEqual(CHECKED_FIELDS.map((pair) => pair.join('.')).toSorted(), fields.toSorted());
});

test('invalid fields of a rejected task are not reported', () => {
  const { rejected, view } = readEntry('task_list', '{"vs_id":5,"inputs":[{"url":5}]}');
  assert.deepEqual([rejected, view.invalidFields], [[['task', 'missing_field']], []]);
});

test('label values that are equal when they are cleaned share a row', () => {
  const long = 'x'.repeat(200);
  const users = ['451', '4\u202e5\n1', `${long}y`, `${long}z`, '', ' \u200b'].map((client_version) => ({
    client_version,
    device_type: '10',
  }));
  const { sums } = viewListing(read(JSON.stringify({ ret: 0, user_list: users, task_list: [] })));
  assert.deepEqual(sums['onlineUsers'], {
    '451|10': 2,
    [`${'x'.repeat(128)}|10`]: 2,
    'unknown|10': 1,
    ' |10': 1,
  });
});

test('a record with another service code than the polled one is foreign', () => {
  const table = [
    ['{"id":"t"}', false],
    [`{"id":"t","service_code":"${POLLED_CODE}"}`, false],
    ['{"id":"t","service_code":""}', false],
    ['{"id":"t","service_code":null}', false],
    ['{"id":"t","service_code":5}', false],
    [`{"id":"t","service_code":"${POLLED_CODE}2"}`, true],
    [`{"id":"t","service_code":"${POLLED_CODE.toLowerCase()}"}`, true],
  ] as const;
  for (const [entry, isForeign] of table) {
    assert.deepEqual(readEntry('user_list', entry).view.foreign, isForeign ? { user: 1 } : {}, entry);
    assert.deepEqual(readEntry('task_list', entry).view.foreign, isForeign ? { task: 1 } : {}, entry);
  }
});

test('an entry of more than 1 MiB is rejected, and leaves no values in the next one', () => {
  const long = 'x'.repeat(1024 * 1024);
  const body = Buffer.from(
    `{"ret":0,"user_list":[{"vs_id":"a","device_type":"1","user_name":"${long}"},{"vs_id":"b"}],"task_list":[]}`,
  );
  for (const cuts of [[], Array.from({ length: body.length / 65536 }, (_, index) => index * 65536)]) {
    const listing = readInChunks(body, cuts);
    assert.deepEqual(readCounts(listing.rows.invalidRecords), { 'user too_long': 1 });
    const { sums } = viewListing(listing);
    assert.deepEqual([sums['onlineUsers'], sums['serverOnlineUsers']], [{ 'unknown|unknown': 1 }, { b: 1 }]);
  }
});

test('nesting deeper than 1048576 levels is rejected', () => {
  const error = failure(`{"x":${'['.repeat(2_000_000)}`);
  assert.equal(error.code, 'not_json');
  assert.match(error.message, /Expected at most 1048576 levels of nesting/);
});
