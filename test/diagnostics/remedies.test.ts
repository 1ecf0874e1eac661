import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hintsFor } from '../../src/explain/hints.ts';
import type { Observation } from '../../src/explain/observation.ts';
import { answer, failed, observation, UNANSWERED } from './observations.ts';

const refused = { ...failed('api_error'), ret: 1005 };
const http = { baseUrl: 'http://live.example.com:8080' };
const looks = { bytes: 32, hasOuterSpace: false, isQuoted: false };
const invalid = { ...observation().listing, invalid: 2 };

/** What is observed, and how each hint for it begins. */
const CASES: readonly (readonly [name: string, seen: Partial<Observation>, beginnings: readonly string[]])[] =
  [
    ['a good poll', {}, []],
    ['a clock that differs within the tolerance', { clock: { aheadMs: 30_400, uncertaintyMs: 500 } }, []],
    [
      'HTTPS to an HTTP port',
      { ...UNANSWERED, ...failed('tls', 'ERR_SSL_WRONG_VERSION_NUMBER') },
      ['What listens at live.example.com does not speak TLS.'],
    ],
    [
      'HTTP to an HTTPS port that closes',
      { ...UNANSWERED, ...http, ...failed('reset', 'UND_ERR_SOCKET') },
      ['What listens at live.example.com:8080 may expect TLS.'],
    ],
    [
      'HTTP to an HTTPS port that sends an alert',
      { ...UNANSWERED, ...http, ...failed('not_json', 'HPE_INVALID_CONSTANT') },
      ['What listens at live.example.com:8080 may expect TLS.'],
    ],
    [
      'HTTP to an HTTPS port that says so',
      { ...http, ...failed('http_status'), ...answer({ status: 400 }) },
      ['What listens at live.example.com:8080 may expect TLS.'],
    ],
    ['a broken connection over TLS', { ...UNANSWERED, ...failed('reset', 'ECONNRESET') }, []],
    ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'].map(
      (code) =>
        [
          code,
          { ...UNANSWERED, ...failed('tls', code) },
          ['The certificate was issued by an authority that is not trusted.'],
        ] as const,
    ),
    [
      'an expired certificate',
      { ...UNANSWERED, ...failed('tls', 'CERT_HAS_EXPIRED') },
      ['The certificate is not valid today'],
    ],
    [
      'a certificate of another host',
      { ...UNANSWERED, ...failed('tls', 'ERR_TLS_CERT_ALTNAME_INVALID') },
      ['The certificate is for another host than live.example.com'],
    ],
    [
      'a name that is unknown',
      { ...UNANSWERED, ...failed('dns', 'ENOTFOUND') },
      ['The name in live.example.com is not known'],
    ],
    [
      'a port where nothing listens',
      { ...UNANSWERED, ...failed('connect', 'ECONNREFUSED') },
      ['Nothing listens at live.example.com'],
    ],
    [
      'a proxy where nothing listens',
      {
        ...UNANSWERED,
        ...failed('connect', 'ECONNREFUSED'),
        connection: { proxy: 'proxy.example.com:3128' },
      },
      ['The request went through the proxy proxy.example.com:3128, from http_proxy'],
    ],
    ['a proxy that works', { connection: { proxy: 'proxy.example.com:3128' } }, []],
    [
      'no connection in time',
      {
        ...UNANSWERED,
        ...failed('timeout'),
        times: { connectedMs: undefined, firstByteMs: undefined, wholeMs: 1 },
      },
      ['No connection in time'],
    ],
    [
      'no answer in time',
      { ...UNANSWERED, ...failed('timeout') },
      ['There was a connection, but no answer in time'],
    ],
    ['no end of the answer in time', failed('timeout'), ['The answer began but did not end in time']],
    [
      'a base URL with the path of the call in it',
      {
        ...failed('http_status'),
        ...answer({ status: 404 }),
        baseUrl: 'https://live.example.com/api/20140928',
      },
      ['base_url already has a part of the path: "/api/20140928".'],
    ],
    [
      'an address without a task_list',
      { ...failed('http_status'), ...answer({ status: 404 }) },
      ['There is no task_list at that address'],
    ],
    [
      'a redirect to another place',
      { ...failed('http_status'), ...answer({ status: 301, redirectOrigin: 'https://other.example.com' }) },
      [
        'The answer is a redirect, which is not followed, because its target is not what was signed. It leads to https://other.example.com',
      ],
    ],
    [
      'a redirect within the service',
      { ...failed('http_status'), ...answer({ status: 302 }) },
      ['The answer is a redirect, which is not followed, because its target is not what was signed.'],
    ],
    [
      'a page, by its first character',
      { ...failed('not_json'), body: { compressedBytes: 9, bytes: 9, start: 'markup' } },
      ['The answer is a web page'],
    ],
    [
      'a page, by its type',
      { ...failed('not_json'), ...answer({ mediaType: 'text/html' }) },
      ['The answer is a web page'],
    ],
    [
      'no body',
      { ...failed('not_json'), body: { compressedBytes: 0, bytes: 0, start: 'nothing' } },
      ['The answer has no body'],
    ],
    [
      'a proxy that wants a password',
      { ...failed('http_status'), ...answer({ status: 407 }) },
      ['The proxy wants a user name and a password'],
    ],
    [
      'status 429',
      { ...failed('http_status'), ...answer({ status: 429 }) },
      ['The service asks for fewer requests'],
    ],
    [
      'status 503 with Retry-After',
      { ...failed('http_status'), ...answer({ status: 503, retryAfter: true }) },
      ['The service asks for fewer requests'],
    ],
    [
      'status 502',
      { ...failed('http_status'), ...answer({ status: 502 }) },
      ['The service, or a balancer before it, is in trouble'],
    ],
    ['a listing beyond the limit', failed('too_large'), ['If listings are that large']],
    ['JSON that is no listing', failed('bad_shape'), ['The answer is JSON, but no listing']],
    ['records that break the interface', { listing: invalid }, ['Entries that break the interface']],
    ['a refusal by ret', refused, ['The service refused the request with ret 1005']],
    ...[401, 403].map(
      (status) =>
        [
          `status ${status}`,
          { ...failed('http_status'), ...answer({ status }) },
          [`The service refused the request with HTTP status ${status}`],
        ] as const,
    ),
    [
      'a clock that is wrong',
      { ...refused, clock: { aheadMs: -3_600_000, uncertaintyMs: 600 } },
      [
        'The clock of this machine and that of the service are at least 3599 s apart',
        'The service refused the request with ret 1005',
      ],
    ],
    [
      'a secret with a space at its end',
      { ...refused, secret: { ...looks, hasOuterSpace: true } },
      ['The secret begins or ends with white space', 'The service refused'],
    ],
    [
      'a secret in quotes',
      { ...refused, secret: { ...looks, isQuoted: true } },
      ['The secret stands in quotes', 'The service refused'],
    ],
    ['an odd secret that is right', { secret: { ...looks, isQuoted: true, hasOuterSpace: true } }, []],
    [
      'a service code in quotes',
      { ...refused, serviceCode: '"TESTING"' },
      ['The service code stands in quotes', 'The service refused'],
    ],
    ...[' TESTING', 'TESTING\u00a0', 'TEST\u200bING'].map(
      (serviceCode) =>
        [
          `the service code ${JSON.stringify(serviceCode)}`,
          { ...refused, serviceCode },
          [
            'The service code has spaces around it, or characters in it that do not show',
            'The service refused',
          ],
        ] as const,
    ),
  ];

for (const [name, seen, beginnings] of CASES) {
  test(`${name}: ${beginnings.length === 0 ? 'no hint' : beginnings.join('; ')}`, () => {
    const hints = hintsFor(observation(seen));
    assert.deepEqual(
      hints.map((hint, index) => hint.slice(0, beginnings[index]?.length)),
      beginnings,
    );
  });
}

test('that the clocks agree is said only where they do', () => {
  const hintAt = (aheadMs: number): string =>
    hintsFor(observation({ ...refused, clock: { aheadMs, uncertaintyMs: 500 } })).join(' ');
  assert.match(hintAt(200), /The clocks agree\./);
  assert.doesNotMatch(hintAt(60_000), /The clocks agree\./);
});
