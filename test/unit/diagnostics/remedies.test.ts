import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '../../../src/diagnostics/observation.ts';
import { findRemedies, STALE_LISTING_REMEDY } from '../../../src/diagnostics/remedies.ts';
import { POLL_ERROR_REASONS } from '../../../src/upstream/errors.ts';
import { readRepositoryFile } from '../../support/repository.ts';
import { createResponse, createFailure, createObservation, NO_RESPONSE } from './observations.ts';

/** A poll that failed without a response. */
const fail = (...reason: Parameters<typeof createFailure>): Partial<Observation> => ({
  ...NO_RESPONSE,
  ...createFailure(...reason),
});
/** A poll that failed because of the status of its response. */
const respond = (status: number, more: Parameters<typeof createResponse>[0] = {}): Partial<Observation> => ({
  ...createFailure('http_status'),
  ...createResponse({ status, ...more }),
});
const rejected = { ...createFailure('api_error'), ret: 1005 };
const http = { baseUrl: 'http://live.example.com:8080' };
const secret = { bytes: 32, isQuoted: false };
const invalid = { ...createObservation().listing, invalid: 2 };

/** Overrides of a successful observation, and the beginnings of the remedies that follow from it. */
const CASES: readonly (readonly [
  name: string,
  overrides: Partial<Observation>,
  remedies: readonly string[],
])[] = [
  ['a successful poll', {}, []],
  ['a clock offset within the tolerance', { clock: { aheadMs: 30_400, uncertaintyMs: 500 } }, []],
  [
    'HTTPS to an HTTP port',
    fail('tls', 'ERR_SSL_WRONG_VERSION_NUMBER'),
    ['The server at live.example.com does not speak TLS.'],
  ],
  [
    'HTTP to an HTTPS port that closes the connection',
    { ...fail('reset', 'UND_ERR_SOCKET'), ...http },
    ['The server at live.example.com:8080 may expect TLS.'],
  ],
  [
    'HTTP to an HTTPS port that sends a TLS alert',
    { ...fail('not_json', 'HPE_INVALID_CONSTANT'), ...http },
    ['The server at live.example.com:8080 may expect TLS.'],
  ],
  [
    'HTTP to an HTTPS port that answers 400',
    { ...respond(400), ...http },
    ['The server at live.example.com:8080 may expect TLS.'],
  ],
  ['a broken connection over TLS', fail('reset', 'ECONNRESET'), ['If this repeats']],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'].map(
    (code) => [code, fail('tls', code), ['The certificate was issued by an untrusted authority.']] as const,
  ),
  [
    'an expired certificate',
    fail('tls', 'CERT_HAS_EXPIRED'),
    ['The certificate is expired or not yet valid.'],
  ],
  [
    'a certificate for another host',
    fail('tls', 'ERR_TLS_CERT_ALTNAME_INVALID'),
    ['The certificate was not issued for live.example.com.'],
  ],
  ['no free file descriptor', fail('resources', 'EMFILE'), ['Raise the limit of open files']],
  [
    'an unknown host name',
    fail('dns', 'ENOTFOUND'),
    ['This machine cannot resolve the name live.example.com.'],
  ],
  ['a port without a listener', fail('connect', 'ECONNREFUSED'), ['Nothing listens at live.example.com.']],
  [
    'a proxy port without a listener',
    { ...fail('connect', 'ECONNREFUSED'), connection: { proxy: 'proxy.example.com:3128' } },
    ['The request went through the proxy proxy.example.com:3128, set by http_proxy'],
  ],
  ['a working proxy', { connection: { proxy: 'proxy.example.com:3128' } }, []],
  [
    'a connect timeout',
    { ...fail('timeout'), times: { connectedMs: undefined, firstByteMs: undefined, totalMs: 1 } },
    ['The connection timed out.'],
  ],
  [
    'a timeout before the response',
    fail('timeout'),
    ['The service accepted the connection but did not respond in time.'],
  ],
  [
    'a timeout within the response',
    createFailure('timeout'),
    ['The response started but did not end in time.'],
  ],
  [
    'a base URL that contains the API path',
    { ...respond(404), baseUrl: 'https://live.example.com/api/20140928' },
    ['upstream.base_url contains a part of the API path: "/api/20140928".'],
  ],
  ['status 404', respond(404), ['The server has no task_list at this address.']],
  [
    'a redirect to another host',
    respond(301, { redirectOrigin: 'https://other.example.com' }),
    [
      'The response is a redirect. The exporter does not follow it, because the signature is not valid for another address. If https://other.example.com is the service',
    ],
  ],
  [
    'a redirect within the service',
    respond(302),
    ['The response is a redirect. The exporter does not follow it'],
  ],
  [
    'a web page, recognized by its first character',
    { ...createFailure('not_json'), body: { compressedBytes: 9, bytes: 9, start: 'markup' } },
    ['The response is a web page'],
  ],
  [
    'a web page, recognized by its media type',
    { ...createFailure('not_json'), ...createResponse({ mediaType: 'text/html' }) },
    ['The response is a web page'],
  ],
  [
    'an empty body',
    { ...createFailure('not_json'), body: { compressedBytes: 0, bytes: 0, start: 'nothing' } },
    ['The response has no body.'],
  ],
  ['status 407', respond(407), ['The proxy requires a user name and a password.']],
  ['status 429', respond(429), ['The service requests fewer polls.']],
  [
    'status 503 with Retry-After',
    respond(503, { hasRetryAfter: true }),
    ['The service is overloaded or under maintenance, and asked for a pause.'],
  ],
  ['status 502', respond(502), ['The service or a load balancer in front of it failed']],
  ['a listing beyond the size limit', createFailure('too_large'), ['If listings of this size are expected']],
  [
    'JSON that is not a listing',
    createFailure('bad_shape'),
    ['Check that upstream.base_url is the address of the service'],
  ],
  ['invalid records', { listing: invalid }, ['Invalid entries are left out of all sums']],
  ['a rejection by ret', rejected, ['The service rejected the request with ret 1005']],
  ...[401, 403].map(
    (status) =>
      [
        `status ${status}`,
        { ...createFailure('http_status'), ...createResponse({ status }) },
        [`The service rejected the request with HTTP status ${status}`],
      ] as const,
  ),
  [
    'a large clock offset',
    { ...rejected, clock: { aheadMs: -3_600_000, uncertaintyMs: 600 } },
    [
      'The clocks of this machine and of the service differ by at least 3599 s',
      'The service rejected the request with ret 1005',
    ],
  ],
  [
    'a rejected secret in quotes',
    { ...rejected, secret: { ...secret, isQuoted: true } },
    ['The secret includes quotes.', 'The service rejected the request'],
  ],
  ['an accepted secret with quotes', { secret: { ...secret, isQuoted: true } }, []],
  [
    'a rejected service code in quotes',
    { ...rejected, serviceCode: '"TESTING"' },
    ['The service code includes quotes.', 'The service rejected the request'],
  ],
  [
    'a rejected service code with an invisible character',
    { ...rejected, serviceCode: 'TEST\u200bING' },
    ['The service code has invisible characters.', 'The service rejected the request'],
  ],
];

for (const [name, overrides, expected] of CASES) {
  test(`${name}: ${expected.length === 0 ? 'no remedy' : expected.join('; ')}`, () => {
    const remedies = findRemedies(createObservation(overrides));
    assert.deepEqual(
      remedies.map((remedy, index) => remedy.slice(0, expected[index]?.length)),
      expected,
    );
  });
}

test('a rejection mentions that the clocks agree only if they do', () => {
  const remedyAt = (aheadMs: number): string =>
    findRemedies(createObservation({ ...rejected, clock: { aheadMs, uncertaintyMs: 500 } })).join(' ');
  assert.match(remedyAt(200), /The clocks agree\./);
  assert.doesNotMatch(remedyAt(60_000), /The clocks agree\./);
});

test('every setting that a remedy names exists', () => {
  const remedies = [
    ...POLL_ERROR_REASONS.flatMap((reason) => findRemedies(createObservation(createFailure(reason)))),
    STALE_LISTING_REMEDY,
    ...CASES.flatMap(([, overrides]) => findRemedies(createObservation(overrides))),
  ];
  const named = remedies.flatMap((text) => text.match(/\b(?:upstream|poll|signing)\.[a-z_]+/g) ?? []);
  const reference = readRepositoryFile('config/reference.md');
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.filter((name) => !reference.includes(`| \`${name}\` |`)),
    [],
  );
});
