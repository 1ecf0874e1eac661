import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListingResponse, UpstreamClient } from '../../src/upstream/client.ts';
import { RecordReaders } from '../../src/listing/record-readers.ts';
import { fetchListing, type FailedListing, type GoodListing } from '../../src/poller/fetch-listing.ts';
import { UpstreamError } from '../../src/upstream/errors.ts';
import { CollectingSink } from '../support/collecting-sink.ts';
import { PUBLISHED_SCHEME } from '../support/published-scheme.ts';

type Client = Pick<UpstreamClient, 'requestListing'>;

const TARGET = {
  serviceCode: 'TESTING',
  baseUrl: 'http://127.0.0.1',
  secret: 'abc',
  signing: PUBLISHED_SCHEME,
  timeoutMs: 10_000,
};
const LISTS = '"user_list":[{"vs_id":"s1"}],"task_list":[{"id":"t1","inputs":[],"outputs":[]}]';

/** A client that gives one answer, in the given pieces. */
function answering(status: number, pieces: readonly string[], more: Partial<ListingResponse> = {}): Client {
  return {
    requestListing: (_target, onBody) => {
      const chunks = pieces.map((piece) => Buffer.from(piece));
      for (const chunk of chunks) onBody(chunk, status);
      return Promise.resolve({ status, bytes: Buffer.concat(chunks).length, ...more });
    },
  };
}

async function fetchFrom(client: Client, sink = new CollectingSink()): Promise<GoodListing | FailedListing> {
  return await fetchListing(client, TARGET, sink, new RecordReaders(), new AbortController().signal);
}

/** What a failure comes to, in a form to be compared. */
function judgement({ error, ret, bytes }: GoodListing | FailedListing) {
  const { reason, status, message, retryAfterMs } = error ?? {};
  return { reason, status, message, retryAfterMs, ret, bytes };
}

test('a listing that is whole and says ret 0 is good, its records are in the sink and its bytes are counted', async () => {
  const sink = new CollectingSink();
  const text = `{"ret":0,${LISTS}}`;
  const fetched = await fetchFrom(answering(200, [text.slice(0, 30), text.slice(30)]), sink);
  assert.deepEqual(fetched, { ret: 0, bytes: text.length });
  assert.deepEqual([sink.users.length, sink.tasks.length], [1, 1]);
});

test('any status of 2xx will do', async () => {
  assert.equal((await fetchFrom(answering(206, [`{"ret":"0",${LISTS}}`]))).error, undefined);
});

interface Case {
  readonly name: string;
  readonly status?: number;
  readonly body: string;
  readonly reason: string;
  readonly message: string;
  readonly ret?: number;
}

const page = '<!doctype html><title>Maintenance</title>';

const CASES: readonly Case[] = [
  {
    name: 'ret 1005 with lists',
    body: `{"ret":1005,${LISTS}}`,
    reason: 'api_error',
    message: 'Expected ret 0, found 1005',
    ret: 1005,
  },
  {
    name: 'ret -1 behind the lists',
    body: `{${LISTS},"ret":-1}`,
    reason: 'api_error',
    message: 'Expected ret 0, found -1',
    ret: -1,
  },
  {
    name: 'ret as a string, without lists',
    body: '{"ret":"1005"}',
    reason: 'api_error',
    message: 'Expected ret 0, found 1005',
    ret: 1005,
  },
  {
    name: 'ret 7 and lists that are null',
    body: '{"ret":7,"user_list":null,"task_list":null}',
    reason: 'api_error',
    message: 'Expected ret 0, found 7',
    ret: 7,
  },
  {
    name: 'status 500 with JSON that has a ret',
    status: 500,
    body: `{"ret":12,${LISTS}}`,
    reason: 'http_status',
    message: 'Expected HTTP status 2xx, found 500',
    ret: 12,
  },
  {
    name: 'status 401 with JSON that has no ret',
    status: 401,
    body: '{"error":"unauthorized"}',
    reason: 'http_status',
    message: 'Expected HTTP status 2xx, found 401',
  },
  {
    name: 'status 500 with a whole good listing',
    status: 500,
    body: `{"ret":0,${LISTS}}`,
    reason: 'http_status',
    message: 'Expected HTTP status 2xx, found 500',
    ret: 0,
  },
  {
    name: 'status 503 with a page',
    status: 503,
    body: page,
    reason: 'http_status',
    message: 'Expected HTTP status 2xx, found 503',
  },
  {
    name: 'a redirect',
    status: 302,
    body: '',
    reason: 'http_status',
    message: 'Expected HTTP status 2xx, found 302',
  },
  {
    name: 'a page with status 200',
    body: page,
    reason: 'not_json',
    message: 'Expected a value, found "<" (0x3c) at byte 0',
  },
  {
    name: 'no body',
    body: '',
    reason: 'not_json',
    message: 'Expected more, found the end of the body at byte 0',
  },
  {
    name: 'a body cut off',
    body: '{"ret":0,"user_list":[',
    reason: 'not_json',
    message: 'Expected more, found the end of the body at byte 22',
    ret: 0,
  },
  {
    name: 'a list missing',
    body: '{"ret":0,"user_list":[]}',
    reason: 'bad_shape',
    message: 'Expected a member "task_list", found none at byte 24',
    ret: 0,
  },
  {
    name: 'a ret that is no number',
    body: `{"ret":"no",${LISTS}}`,
    reason: 'bad_shape',
    message: 'Expected an integer as "ret", found another value at byte 11',
  },
  {
    name: 'no ret',
    body: `{${LISTS}}`,
    reason: 'bad_shape',
    message: `Expected a member "ret", found none at byte ${LISTS.length + 2}`,
  },
];

for (const { name, status = 200, body, reason, message, ret } of CASES) {
  test(`${name} is ${reason}`, async () => {
    const isOfTheBody = reason === 'not_json' || reason === 'bad_shape';
    assert.deepEqual(judgement(await fetchFrom(answering(status, [body]))), {
      reason,
      message,
      status: isOfTheBody ? undefined : status,
      retryAfterMs: undefined,
      ret,
      bytes: body.length,
    });
  });
}

test('the ret of an error is kept wherever its body is cut into pieces', async () => {
  const body = '{"detail":"x","ret":12}';
  for (let first = 1; first < body.length - 1; first += 1) {
    for (let second = first + 1; second < body.length; second += 1) {
      const pieces = [body.slice(0, first), body.slice(first, second), body.slice(second)];
      const { ret } = await fetchFrom(answering(500, pieces));
      assert.equal(ret, 12, JSON.stringify(pieces));
    }
  }
});

test('what a body of an error says behind its first mistake is left unread, and all of it is counted', async () => {
  const fetched = await fetchFrom(answering(502, ['{"ret":3,', page, '"ret":4}']));
  assert.deepEqual([fetched.error?.reason, fetched.ret, fetched.bytes], ['http_status', 3, 17 + page.length]);
});

test('a pause that the service asks for comes with the error', async () => {
  const { error } = await fetchFrom(answering(429, [''], { retryAfterMs: 7000 }));
  assert.deepEqual([error?.reason, error?.retryAfterMs], ['http_status', 7000]);
});

test('an empty body has 0 bytes, and where there was no answer there is none', async () => {
  const empty = await fetchFrom(answering(200, []));
  assert.deepEqual([empty.error?.reason, empty.bytes], ['not_json', 0]);
  const refused = new UpstreamError('connect', 'No connection to the service could be made');
  const client: Client = { requestListing: () => Promise.reject(refused) };
  assert.deepEqual(await fetchFrom(client), { error: refused, ret: undefined, bytes: undefined });
});

test('an error of the client is passed on, with the ret and the bytes that came before it', async () => {
  const broken = new UpstreamError('reset', 'The connection to the service broke');
  const client: Client = {
    requestListing: (_target, onBody) => {
      onBody(Buffer.from('{"ret":0,"user_list":['), 200);
      return Promise.reject(broken);
    },
  };
  assert.deepEqual(await fetchFrom(client), { error: broken, ret: 0, bytes: 22 });
});

test('a body that is no JSON ends the request at once, and is told with the byte at fault', async () => {
  let handedOn = 0;
  const client: Client = {
    requestListing: async (target, onBody, signal) => {
      const counted = (chunk: Uint8Array, status: number): void => {
        handedOn += 1;
        onBody(chunk, status);
      };
      return await answering(200, ['{"ret":0,', '?', '"user_list":[]']).requestListing(
        target,
        counted,
        signal,
      );
    },
  };
  const { error, bytes } = await fetchFrom(client);
  assert.deepEqual([error?.reason, bytes, handedOn], ['not_json', 10, 2]);
  assert.match(error?.message ?? '', / at byte 9$/);
});

for (const mistake of [new TypeError('Expected a function'), new RangeError('Out of memory')]) {
  test(`a ${mistake.name} of the program is thrown on`, async () => {
    const client: Client = { requestListing: () => Promise.reject(mistake) };
    await assert.rejects(fetchFrom(client), mistake);
  });
}

for (const status of [200, 500]) {
  test(`a mistake of the sink is thrown on, with status ${status}`, async () => {
    const mistake = new TypeError('Expected a record');
    const sink = Object.assign(new CollectingSink(), {
      user: () => {
        throw mistake;
      },
    });
    await assert.rejects(fetchFrom(answering(status, [`{"ret":0,${LISTS}}`]), sink), mistake);
  });
}

test('the signal reaches the client, and its reason comes back', async () => {
  const reason = new Error('Stopping');
  const client: Client = {
    requestListing: (_target, _onBody, signal) => {
      signal.throwIfAborted();
      return Promise.reject(new Error('Expected an aborted signal'));
    },
  };
  const asked = fetchListing(
    client,
    TARGET,
    new CollectingSink(),
    new RecordReaders(),
    AbortSignal.abort(reason),
  );
  await assert.rejects(asked, reason);
});
