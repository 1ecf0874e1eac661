import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListingError } from '../../src/listing/errors.ts';
import { ListingReader } from '../../src/listing/reader.ts';
import { CollectingSink, readCut } from '../support/collecting-sink.ts';
import { fixture } from '../support/fixtures.ts';

const EMPTY = '{"ret":0,"user_list":[],"task_list":[]}';

const read = (text: string): ReturnType<typeof readCut> => readCut(Buffer.from(text), []);

function failure(text: string): ListingError {
  try {
    read(text);
  } catch (error) {
    if (error instanceof ListingError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: `Expected ${text} to be refused` });
}

test('the sample listing gives one user and one task with three outputs', () => {
  const { sink, end } = readCut(fixture('sample-listing.json'), []);

  assert.equal(end.ret, 0);
  assert.deepEqual(sink.left, []);
  assert.deepEqual(sink.users, [{ vsId: 'aws-cn_north_1-5', clientVersion: '451', deviceType: '10' }]);
  const [task] = sink.tasks;
  assert.equal(sink.tasks.length, 1);
  assert.equal(task?.id, 'aws-cn_north_1-5-7d4bb08e1ada4741');
  assert.equal(task.inputBytes, 7340032);
  assert.deepEqual(task.inputs, [
    { protocol: 'tcp_upload', deviceType: '10', clientVersion: '451', inputBytes: undefined },
  ]);
  assert.deepEqual(
    task.outputs.map(({ format, httpOutputBytes, streams }) => [format, httpOutputBytes, streams.length]),
    [
      ['flv', 1048576, 2],
      ['rtmp', 0, 2],
      ['m3u8', 0, 2],
    ],
  );
});

test('the sample listing reads alike, cut at every byte', () => {
  const body = fixture('sample-listing.json');
  const whole = readCut(body, []).sink;
  for (let cut = 0; cut <= body.length; cut += 1) assert.deepEqual(readCut(body, [cut]).sink, whole);
  assert.deepEqual(readCut(body, [...body.keys()]).sink, whole);
});

test('nothing of a URL but its scheme, no user name and no opaque gets out', () => {
  const { sink } = readCut(fixture('sample-listing.json'), []);
  assert.doesNotMatch(JSON.stringify(sink), /vs-5\.example\.com|room|user_name|"001"/);
});

test('what is accepted as a listing', async (t) => {
  const table: [string, string, number][] = [
    ['nothing online', EMPTY, 0],
    ['ret at the end', '{"user_list":[],"task_list":[],"ret":0}', 0],
    ['ret as a string of digits', '{"user_list":[],"task_list":[],"ret":"0"}', 0],
    ['white space everywhere', ' \r\n\t{ "ret" : 0 , "user_list" : [ ] , "task_list" : [ ] } \n', 0],
    ['keys with escapes', '{"\\u0072et":0,"user\\u005flist":[],"task_list":[]}', 0],
    [
      'unknown members',
      '{"x":[[[{"a":[null,true,-1.5e+3,"\\ud83d\\ude00"]}]]],"ret":0,"user_list":[],"task_list":[]}',
      0,
    ],
    ['an error without lists', '{"ret":-3}', -3],
    ['an error with lists that are none', '{"ret":7,"user_list":null,"task_list":"none"}', 7],
    ['an error as a string', '{"ret":"1001","msg":"signature"}', 1001],
  ];
  for (const [name, text, ret] of table) {
    await t.test(name, () => assert.equal(read(text).end.ret, ret));
  }
});

test('what is refused, with code and message', async (t) => {
  const table: [string, string, string, string][] = [
    ['an empty body', '', 'not_json', 'Expected more, found the end of the body at byte 0'],
    ['HTML', '<html>', 'not_json', 'Expected a value, found "<" (0x3c) at byte 0'],
    [
      'half a body',
      '{"ret":0,"user_list":[{"vs_id":"a',
      'not_json',
      'Expected more, found the end of the body at byte 33',
    ],
    [
      'something after the end',
      `${EMPTY} x`,
      'not_json',
      'Expected nothing after the listing, found "x" (0x78) at byte 40',
    ],
    [
      'a comma too many',
      '{"ret":0,"user_list":[{},],"task_list":[]}',
      'not_json',
      'Expected a value, found "]" (0x5d) at byte 25',
    ],
    [
      'a leading zero',
      '{"ret":00,"user_list":[],"task_list":[]}',
      'not_json',
      'Expected a number as JSON writes it, found "0" (0x30) at byte 7',
    ],
    [
      'a control character',
      '{"ret":0,"x":"a\nb"}',
      'not_json',
      'Expected no control character within a string, found 0x0a at byte 15',
    ],
    ['a byte order mark', `\uFEFF${EMPTY}`, 'not_json', 'Expected a value, found 0xef at byte 0'],
    ['an array', '[]', 'bad_shape', 'Expected an object as the body, found another value at byte 0'],
    ['a number', '12', 'bad_shape', 'Expected an object as the body, found another value at byte 0'],
    [
      'no ret',
      '{"user_list":[],"task_list":[]}',
      'bad_shape',
      'Expected a member "ret", found none at byte 31',
    ],
    [
      'no user_list',
      '{"ret":0,"task_list":[]}',
      'bad_shape',
      'Expected a member "user_list", found none at byte 24',
    ],
    [
      'no task_list',
      '{"ret":0,"user_list":[]}',
      'bad_shape',
      'Expected a member "task_list", found none at byte 24',
    ],
    [
      'a list that is null',
      '{"ret":0,"user_list":[],"task_list":null}',
      'bad_shape',
      'Expected an array as "task_list", found another value at byte 36',
    ],
    [
      'a ret that is null',
      '{"ret":null,"user_list":[],"task_list":[]}',
      'bad_shape',
      'Expected an integer as "ret", found another value at byte 7',
    ],
    [
      'a ret that is no integer',
      '{"ret":0.5,"user_list":[],"task_list":[]}',
      'bad_shape',
      'Expected an integer as "ret", found another value at byte 10',
    ],
    [
      'a ret that is a word',
      '{"ret":"ok","user_list":[],"task_list":[]}',
      'bad_shape',
      'Expected an integer as "ret", found another value at byte 11',
    ],
    [
      'a list that comes twice',
      '{"ret":0,"user_list":[],"user_list":[],"task_list":[]}',
      'bad_shape',
      'Expected one member "user_list", found another at byte 36',
    ],
  ];
  for (const [name, text, code, message] of table) {
    await t.test(name, () => {
      const error = failure(text);
      assert.equal(error.message, message);
      assert.equal(error.code, code);
    });
  }
});

test('an entry that breaks the interface is left out with its reason, the rest stands', async (t) => {
  const task = (members: string): string => `{"id":"t","inputs":[],"outputs":[]${members}}`;
  const output = (members: string): string =>
    task(`,"outputs":[{"http_output_bytes":1,"http_connections_num":0,"streams":[]${members}}]`);
  const table: [string, 'user_list' | 'task_list', string, [string, string][]][] = [
    ['a user that is a number', 'user_list', '5', [['user', 'not_an_object']]],
    ['a user that is null', 'user_list', 'null', [['user', 'not_an_object']]],
    ['a user with a mistyped field', 'user_list', '{"vs_id":5}', [['user', 'wrong_type']]],
    ['a task without id', 'task_list', '{"inputs":[],"outputs":[]}', [['task', 'missing_field']]],
    [
      'a task with an empty id',
      'task_list',
      '{"id":"","inputs":[],"outputs":[]}',
      [['task', 'missing_field']],
    ],
    ['a task without outputs', 'task_list', '{"id":"t","inputs":[]}', [['task', 'missing_field']]],
    [
      'a task whose inputs are no list',
      'task_list',
      '{"id":"t","inputs":{},"outputs":[]}',
      [['task', 'wrong_type']],
    ],
    ['negative bytes', 'task_list', task(',"input_bytes":-1'), [['task', 'out_of_range']]],
    ['bytes beyond 2⁵³', 'task_list', task(',"input_bytes":9007199254740992'), [['task', 'out_of_range']]],
    ['infinite bytes', 'task_list', task(',"input_bytes":1e999'), [['task', 'out_of_range']]],
    ['bytes with a fraction', 'task_list', task(',"input_bytes":0.5'), [['task', 'wrong_type']]],
    ['an input that is a string', 'task_list', task(',"inputs":["x"]'), [['input', 'not_an_object']]],
    [
      'an output without bytes',
      'task_list',
      task(',"outputs":[{"http_connections_num":0,"streams":[]}]'),
      [['output', 'missing_field']],
    ],
    ['a stream that is an array', 'task_list', output(',"streams":[[]]'), [['stream', 'not_an_object']]],
    [
      'streams of an output left out count once, with it',
      'task_list',
      output(',"streams":[5],"format":5'),
      [['output', 'wrong_type']],
    ],
    ['of a key that comes twice the last one counts', 'task_list', task(',"inputs":[5],"inputs":[]'), []],
  ];
  for (const [name, list, entry, left] of table) {
    await t.test(name, () => {
      const other = list === 'user_list' ? 'task_list' : 'user_list';
      const good = list === 'user_list' ? '{}' : '{"id":"good","inputs":[],"outputs":[]}';
      const { sink } = read(`{"ret":0,"${other}":[],"${list}":[${good},${entry},${good}]}`);
      assert.deepEqual(sink.left, left);
      assert.ok(sink.users.length + sink.tasks.length >= 2);
    });
  }
});

test('an entry longer than the reader holds is left out', () => {
  const long = 'x'.repeat(17 * 1024 * 1024);
  const body = Buffer.from(`{"ret":0,"user_list":[{"user_name":"${long}"},{"vs_id":"a"}],"task_list":[]}`);
  const sink = new CollectingSink();
  const reader = new ListingReader(sink);
  for (let start = 0; start < body.length; start += 65536) reader.write(body.subarray(start, start + 65536));
  reader.end();
  assert.deepEqual(sink.left, [['user', 'too_long']]);
  assert.equal(sink.users.length, 1);
});

test('of an entry that was given up, nothing is left in the next one', () => {
  const long = 'x'.repeat(17 * 1024 * 1024);
  const { sink } = read(
    `{"ret":0,"user_list":[{"vs_id":"a","device_type":"1","user_name":"${long}"},{"vs_id":"b"}],"task_list":[]}`,
  );
  assert.deepEqual(sink.users, [{ vsId: 'b', clientVersion: undefined, deviceType: undefined }]);
});

test('of a key that comes twice the last one counts, however often it does', () => {
  const wrongThenRight = '{"device_type":[],"device_type":"1"}';
  const rightThenWrong = '{"device_type":"1","device_type":[]}';
  for (const [entry, left] of [
    [wrongThenRight, 0],
    [rightThenWrong, 3],
  ] as const) {
    const { sink } = read(`{"ret":0,"user_list":[${entry},${entry},${entry}],"task_list":[]}`);
    assert.equal(sink.left.length, left);
    assert.deepEqual(
      sink.users.map(({ deviceType }) => deviceType),
      Array.from({ length: 3 - left }, () => '1'),
    );
  }
});

test('a body nested without end is refused', () => {
  const error = failure(`{"x":${'['.repeat(2_000_000)}`);
  assert.equal(error.code, 'not_json');
  assert.match(error.message, /Expected at most 1048576 levels of nesting/);
});
