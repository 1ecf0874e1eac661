import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamClient } from '../../../src/upstream/client.ts';
import type { AccountReservations } from '../../../src/listing/listing.ts';
import { fetchListing, type GoodListing } from '../../../src/poller/fetch-listing.ts';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import { getReaderPool } from '../../support/read-listing.ts';
import { createHead, TARGET } from '../../support/manual-client.ts';

type Client = Pick<UpstreamClient, 'requestListing'>;

const LISTS = '"user_list":[{"vs_id":"s1"}],"task_list":[{"id":"t1","inputs":[],"outputs":[]}]';

/** Creates a client with one response, whose body arrives in the given chunks. */
function createClient(status: number, bodyChunks: readonly string[]): Client {
  return {
    requestListing: (_target, onBody, _signal, observer) => {
      const head = createHead({ status });
      observer?.onResponse(head);
      for (const chunk of bodyChunks) onBody(Buffer.from(chunk));
      return Promise.resolve(head);
    },
  };
}

const fetchFrom = (client: Client, accountShare?: AccountReservations) =>
  fetchListing(client, TARGET, getReaderPool(), accountShare, new AbortController().signal);

test('a complete listing with ret 0 is good: the result has the listing and its size', async () => {
  const text = `{"ret":0,${LISTS}}`;
  const fetched = await fetchFrom(createClient(200, [text.slice(0, 30), text.slice(30)]));
  assert.ok(fetched.error === undefined);
  const { listing, ret, bytes, response } = fetched;
  assert.deepEqual([ret, bytes, response?.status], [0, text.length, 200]);
  assert.deepEqual([listing.users, listing.tasks.size], [1, 1]);
});

test('the accounts of tasks are reserved while a listing is read, and released when it is complete or fails', async () => {
  for (const [end, isGood] of [
    ['}', true],
    ['?', false],
  ] as const) {
    const counts: number[] = [];
    const share = {
      reserve: (count: number) => counts.push(count) > 0,
      release: (count: number) => counts.push(-count),
    };
    const fetched = await fetchFrom(createClient(200, [`{"ret":0,${LISTS}${end}`]), share);
    assert.equal(fetched.error === undefined, isGood);
    assert.deepEqual(counts, isGood ? [1, -1] : counts.toSorted((a, b) => b - a));
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      0,
    );
  }
});

test('tasks for which there is no room have no accounts', async () => {
  const full = { reserve: () => false, release: () => undefined };
  const { listing } = (await fetchFrom(createClient(200, [`{"ret":0,${LISTS}}`]), full)) as GoodListing;
  assert.deepEqual([listing.taskCount, listing.tasks.size], [1, 0]);
});

test('every 2xx status is a success, except 206', async () => {
  const body = `{"ret":"0",${LISTS}}`;
  assert.equal((await fetchFrom(createClient(203, [body]))).error, undefined);
  const { error, ret } = await fetchFrom(createClient(206, [body]));
  assert.deepEqual(
    [error?.reason, error?.message, ret],
    ['http_status', 'Expected HTTP status 2xx with a whole listing, found 206', 0],
  );
});

const PAGE = '<!doctype html><title>Maintenance</title>';

/** Name, body, reason, the end of the message, ret, and the HTTP status, 200 if it is missing. */
type Case = readonly [string, string, string, string, (number | undefined)?, number?];

const CASES: readonly Case[] = [
  ['ret 1005 with lists', `{"ret":1005,${LISTS}}`, 'api_error', 'ret 0, found 1005', 1005],
  ['ret -1 after the lists', `{${LISTS},"ret":-1}`, 'api_error', 'ret 0, found -1', -1],
  ['ret as a string', '{"ret":"1005"}', 'api_error', 'ret 0, found 1005', 1005],
  ['null lists', '{"ret":7,"user_list":null,"task_list":null}', 'api_error', 'ret 0, found 7', 7],
  ['status 500 and ret', `{"ret":12,${LISTS}}`, 'http_status', 'status 2xx, found 500', 12, 500],
  ['a page with status 200', PAGE, 'not_json', 'a value, found "<" (0x3c) at byte 0'],
  [
    'truncated',
    '{"ret":0,"user_list":[',
    'not_json',
    'a whole listing, found one that is cut off after 22 bytes',
    0,
  ],
  ['one list', '{"ret":0,"user_list":[]}', 'bad_shape', 'a member "task_list", found none at byte 24', 0],
];

for (const [name, body, reason, message, ret, status = 200] of CASES) {
  test(`${name} is ${reason}`, async () => {
    const isBodyError = reason === 'not_json' || reason === 'bad_shape';
    const { error, ...fetched } = await fetchFrom(createClient(status, [body]));
    assert.deepEqual(
      [error?.reason, error?.status, fetched.ret, fetched.bytes, fetched.response?.status],
      [reason, isBodyError ? undefined : status, ret, body.length, status],
    );
    assert.ok(error?.message.startsWith('Expected ') && error.message.endsWith(message), error?.message);
  });
}

test('the body of an error response is not parsed after its first syntax error, but its size is counted', async () => {
  const fetched = await fetchFrom(createClient(502, ['{"ret":3,', PAGE, '"ret":4}']));
  assert.deepEqual([fetched.error?.reason, fetched.ret, fetched.bytes], ['http_status', 3, 17 + PAGE.length]);
});

test('an empty body has 0 bytes; without a response, size and status are undefined', async () => {
  const empty = await fetchFrom(createClient(200, []));
  assert.deepEqual([empty.error?.reason, empty.bytes], ['not_json', 0]);
  const refused = new UpstreamError('connect', 'No connection to the service could be made');
  const client: Client = { requestListing: () => Promise.reject(refused) };
  assert.deepEqual(await fetchFrom(client), {
    error: refused,
    ret: undefined,
    users: 0,
    tasks: 0,
    bytes: undefined,
    response: undefined,
    bodyStart: '',
  });
});

test('an error of the client is returned with what was received before it', async () => {
  const head = createHead();
  const broken = new UpstreamError('reset', 'The connection to the service broke');
  const client: Client = {
    requestListing: (_target, onBody, _signal, observer) => {
      observer?.onResponse(head);
      onBody(Buffer.from('{"ret":0,"user_list":[{},{'));
      return Promise.reject(broken);
    },
  };
  assert.deepEqual(await fetchFrom(client), {
    error: broken,
    ret: 0,
    users: 1,
    tasks: 0,
    bytes: 26,
    response: head,
    bodyStart: '{"ret":0,"user_list":[{},{',
  });
});

test('an error for lack of memory is a failure of the poll', async () => {
  const client: Client = { requestListing: () => Promise.reject(new RangeError('Out of memory')) };
  assert.equal((await fetchFrom(client)).error?.reason, 'resources');
});

for (const internalError of [new TypeError('Expected a function'), new RangeError('Invalid length')]) {
  test(`a ${internalError.name} rejects`, async () => {
    const client: Client = { requestListing: () => Promise.reject(internalError) };
    await assert.rejects(fetchFrom(client), internalError);
  });
}

for (const status of [200, 500]) {
  test(`an internal error of the reader rejects, with status ${status}`, async () => {
    const internalError = new TypeError('Expected a number');
    const share = {
      reserve: () => {
        throw internalError;
      },
      release: () => undefined,
    };
    await assert.rejects(fetchFrom(createClient(status, [`{"ret":0,${LISTS}}`]), share), internalError);
  });
}
