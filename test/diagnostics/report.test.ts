import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explanation } from '../../src/explain/report.ts';
import { assertGolden } from '../support/fixtures.ts';
import { answer, failed, observation, UNANSWERED } from './observations.ts';

const NOW = Date.UTC(2026, 0, 1);

const CASES = [
  ['good', {}],
  ['unanswered', { ...UNANSWERED, ...failed('connect', 'ECONNREFUSED'), connection: {} }],
  [
    'left-out',
    {
      attempts: 2,
      listing: {
        ...observation().listing,
        invalid: 3,
        firstInvalid: [{ place: 'user_list[1]', reason: 'wrong_type' as const }],
      },
      connection: {
        peer: '[2001:db8::7]:443 (IPv6)',
        tls: { version: 'TLSv1.2', validUntilMs: NOW + 40.5 * 86_400_000 },
      },
      clock: { aheadMs: 2000, uncertaintyMs: 500 },
    },
  ],
  [
    'redirected',
    {
      ...failed('http_status'),
      ...answer({ status: 301, redirectOrigin: 'https://other.example.com' }),
      ret: undefined,
      listing: { ...observation().listing, users: 0, tasks: 0 },
      connection: { proxy: 'proxy.example.com:3128', peer: '192.0.2.1:3128 (IPv4)' },
      clock: { aheadMs: -90_000, uncertaintyMs: 500 },
    },
  ],
] as const;

for (const [name, seen] of CASES) {
  test(`an explanation as it is printed: ${name}`, () => {
    assertGolden(`explain/${name}.txt`, explanation(observation(seen), NOW));
  });
}

test('what steers a terminal, or does not show, is written out', () => {
  const text = explanation(observation({ serviceCode: 'A\u001b[31m\u200b' }), NOW);
  assert.match(text, /^A\\u\{1b\}\[31m\\u\{200b\}\n/);
});
