import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchListing } from '../../src/poller/fetch-listing.ts';
import { UpstreamError } from '../../src/upstream/errors.ts';
import { CollectingSink } from '../support/collecting-sink.ts';
import { EMPTY_LISTING, ScriptedClient, TARGET, type Answer } from '../support/scripted-client.ts';

const never = new AbortController().signal;

async function fetched(answer: Answer) {
  const client = new ScriptedClient();
  client.answer = () => answer;
  const { error, ret, bytes } = await fetchListing(client, TARGET, new CollectingSink(), never);
  return { reason: error?.reason, message: error?.message, ret, bytes, retryAfterMs: error?.retryAfterMs };
}

test('every answer is judged', async (t) => {
  const timeout = new UpstreamError('timeout', 'The service did not answer in time');
  const table: [string, Answer, Partial<Awaited<ReturnType<typeof fetched>>>][] = [
    ['a listing', {}, { reason: undefined, ret: 0, bytes: EMPTY_LISTING.length }],
    [
      'a ret that is not 0',
      { body: '{"ret":1001}' },
      { reason: 'api_error', ret: 1001, message: 'Expected ret 0, found 1001' },
    ],
    [
      'a ret in digits',
      { body: '{"ret":"-5","user_list":[],"task_list":[]}' },
      { reason: 'api_error', ret: -5 },
    ],
    [
      'a status with a ret',
      { status: 500, body: '{"ret":9}' },
      { reason: 'http_status', ret: 9, message: 'Expected HTTP status 2xx, found 500' },
    ],
    [
      'a status with HTML',
      { status: 502, body: '<html>' },
      { reason: 'http_status', ret: undefined, bytes: 6 },
    ],
    [
      'a status with half a ret',
      { status: 500, body: '{"ret":1' },
      { reason: 'http_status', ret: undefined },
    ],
    ['a status with a good listing', { status: 404, body: EMPTY_LISTING }, { reason: 'http_status', ret: 0 }],
    ['a redirect', { status: 302, body: '' }, { reason: 'http_status' }],
    [
      'too many requests',
      { status: 429, body: '', retryAfterMs: 7000 },
      { reason: 'http_status', retryAfterMs: 7000 },
    ],
    [
      'HTML',
      { body: '<html>' },
      { reason: 'not_json', message: 'Expected a value, found "<" (0x3c) at byte 0' },
    ],
    ['nothing', { body: '' }, { reason: 'not_json' }],
    ['no list', { body: '{"ret":0,"user_list":[]}' }, { reason: 'bad_shape', ret: 0 }],
    [
      'half a body and then a failure',
      { body: '{"ret":0,"user_list":[', error: timeout },
      { reason: 'timeout', ret: 0, bytes: 22 },
    ],
  ];
  for (const [name, answer, wanted] of table) {
    await t.test(name, async () => {
      const found = await fetched(answer);
      assert.deepEqual({ ...found, ...wanted }, found);
    });
  }
});

test('a mistake of the program is no failure of the service', async () => {
  await assert.rejects(fetched({ error: new TypeError('a bug') }), { name: 'TypeError' });
});
