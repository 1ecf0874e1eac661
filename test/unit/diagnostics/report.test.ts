import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatReport } from '../../../src/diagnostics/report.ts';
import { assertGolden } from '../../support/fixtures.ts';
import { createFailure, createObservation, createResponse, NO_RESPONSE } from './observations.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

const CASES = [
  ['success', {}],
  ['no-response', { ...NO_RESPONSE, ...createFailure('connect', 'ECONNREFUSED'), connection: {} }],
  [
    'invalid-entries',
    {
      taskNames: undefined,
      attempts: 2,
      listing: {
        ...createObservation().listing,
        invalid: 3,
        firstInvalid: [{ record: 'task', index: 1, reason: 'wrong_type' }],
        invalidFields: [
          { record: 'task', field: 'progress', count: 3 },
          { record: 'output', field: 'http_output_bytes', count: 1 },
        ],
      },
      connection: {
        peer: '[2001:db8::7]:443 (IPv6)',
        tls: { version: 'TLSv1.2', validUntilMs: NOW_MS + 40.5 * 86_400_000 },
      },
      clock: { aheadMs: 2000, uncertaintyMs: 500 },
    },
  ],
  [
    'redirect',
    {
      ...createFailure('http_status'),
      ...createResponse({ status: 301, redirectOrigin: 'https://other.example.com' }),
      ret: undefined,
      listing: { ...createObservation().listing, users: 0, tasks: 0 },
      connection: { proxy: 'proxy.example.com:3128', peer: '192.0.2.1:3128 (IPv4)' },
      clock: { aheadMs: -90_000, uncertaintyMs: 500 },
    },
  ],
] as const;

for (const [name, overrides] of CASES) {
  test(`the report of an observation matches the golden file: ${name}`, () => {
    assertGolden(`diagnostics/${name}.txt`, formatReport(createObservation(overrides), NOW_MS));
  });
}

test('a report escapes control characters and invisible characters', () => {
  const text = formatReport(createObservation({ serviceCode: 'A\u001b[31m\u200b' }), NOW_MS);
  assert.match(text, /^A\\u\{1b\}\[31m\\u\{200b\}\n/);
});
