import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatReport } from '../../../src/diagnostics/report.ts';
import { assertGolden } from '../../support/fixtures.ts';
import type { Observation } from '../../../src/diagnostics/observe-poll.ts';
import { createFailure, createGoodListing, createObservation, createResponse } from './observations.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

const stream = {};
const output = (streams: readonly unknown[]) => ({ http_output_bytes: 1, http_connections_num: 0, streams });
const task = (id: string, inputs: readonly unknown[], outputs: readonly unknown[]) => ({
  id,
  inputs,
  outputs,
});

const INVALID_ENTRIES = {
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

const CASES: readonly (readonly [name: string, overrides: Partial<Observation>])[] = [
  ['success', {}],
  [
    'no-response',
    {
      fetched: createFailure('connect', { code: 'ECONNREFUSED' }, { response: undefined }),
      compressedBytes: 0,
      isRequestSent: false,
      connection: {},
      times: { connectedMs: undefined, firstByteMs: undefined, totalMs: 56 },
    },
  ],
  [
    'invalid-entries',
    {
      taskNames: undefined,
      fetched: createGoodListing(
        INVALID_ENTRIES,
        createResponse({
          clockOffset: { aheadMs: 2000, uncertaintyMs: 500 },
          certificateNotAfterMs: NOW_MS + 40.5 * 86_400_000,
        }),
      ),
      connection: { peer: '[2001:db8::7]:443 (IPv6), TLSv1.2' },
    },
  ],
  [
    'redirect',
    {
      fetched: createFailure(
        'http_status',
        { viaProxy: 'proxy.example.com:3128' },
        {
          users: 7,
          tasks: 2,
          response: createResponse(
            { status: 301, clockOffset: { aheadMs: -90_000, uncertaintyMs: 500 } },
            { location: 'https://other.example.com/x?token=1', 'content-type': 'text/plain; charset=utf-8' },
          ),
        },
      ),
      connection: { proxy: 'proxy.example.com:3128', peer: '192.0.2.1:3128 (IPv4), no TLS' },
    },
  ],
];

for (const [name, overrides] of CASES) {
  test(`the report of an observation matches the golden file: ${name}`, () => {
    assertGolden(`diagnostics/${name}.txt`, formatReport(createObservation(overrides), NOW_MS));
  });
}

test('a report escapes control characters and invisible characters', () => {
  const observation = createObservation();
  const text = formatReport(
    { ...observation, target: { ...observation.target, serviceCode: 'A\u001b[31m\u200b' } },
    NOW_MS,
  );
  assert.match(text, /^A\\u\{1b\}\[31m\\u\{200b\}\n/);
});
