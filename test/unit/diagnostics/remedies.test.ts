import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '../../../src/diagnostics/observation.ts';
import { findRemedies, STALE_LISTING_REMEDY } from '../../../src/diagnostics/remedies.ts';
import { POLL_ERROR_REASONS } from '../../../src/upstream/errors.ts';
import { assertGolden } from '../../support/fixtures.ts';
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
const proxy = { connection: { proxy: 'proxy.example.com:3128' } };
const secret = { bytes: 32, isQuoted: false };

/** Overrides of a successful observation by what they stand for. */
const CASES: Readonly<Record<string, Partial<Observation>>> = {
  'a successful poll': {},
  'a clock offset within the tolerance': { clock: { aheadMs: 30_400, uncertaintyMs: 500 } },
  'HTTPS to an HTTP port': fail('tls', 'ERR_SSL_WRONG_VERSION_NUMBER'),
  'HTTP to an HTTPS port that closes the connection': { ...fail('reset', 'UND_ERR_SOCKET'), ...http },
  'HTTP to an HTTPS port that sends a TLS alert': { ...fail('not_json', 'HPE_INVALID_CONSTANT'), ...http },
  'HTTP to an HTTPS port that answers 400': { ...respond(400), ...http },
  'a broken connection over TLS': fail('reset', 'ECONNRESET'),
  'a chain that is not complete': fail('tls', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
  'a chain of an unknown authority': fail('tls', 'SELF_SIGNED_CERT_IN_CHAIN'),
  'a self-signed certificate': fail('tls', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
  'an expired certificate': fail('tls', 'CERT_HAS_EXPIRED'),
  'a certificate for another host': fail('tls', 'ERR_TLS_CERT_ALTNAME_INVALID'),
  'no free file descriptor': fail('resources', 'EMFILE'),
  'an unknown host name': fail('dns', 'ENOTFOUND'),
  'a port without a listener': fail('connect', 'ECONNREFUSED'),
  'a proxy port without a listener': { ...fail('connect', 'ECONNREFUSED'), ...proxy },
  'a working proxy': proxy,
  'a connect timeout': {
    ...fail('timeout'),
    times: { connectedMs: undefined, firstByteMs: undefined, totalMs: 1 },
  },
  'a timeout before the response': fail('timeout'),
  'a timeout within the response': createFailure('timeout'),
  'a base URL that contains the API path': {
    ...respond(404),
    baseUrl: 'https://live.example.com/api/20140928',
  },
  'status 404': respond(404),
  'a redirect to another host': respond(301, { redirectOrigin: 'https://other.example.com' }),
  'a redirect within the service': respond(302),
  'a web page, recognized by its first character': {
    ...createFailure('not_json'),
    body: { compressedBytes: 9, bytes: 9, start: 'markup' },
  },
  'a web page, recognized by its media type': {
    ...createFailure('not_json'),
    ...createResponse({ mediaType: 'text/html' }),
  },
  'a listing that is cut off': {
    failure: { reason: 'not_json', message: 'It failed', code: undefined, isCutOff: true },
  },
  'an empty body': {
    ...createFailure('not_json'),
    body: { compressedBytes: 0, bytes: 0, start: 'nothing' },
  },
  'status 401': respond(401),
  'status 403': respond(403),
  'status 407': respond(407),
  'status 429': respond(429),
  'status 502': respond(502),
  'status 503 with Retry-After': respond(503, { hasRetryAfter: true }),
  'a name with two addresses': {
    ...NO_RESPONSE,
    failure: { reason: 'timeout', message: 'It failed', code: 'ETIMEDOUT', addresses: 2 },
  },
  'a response of a cache': createResponse({ ageMs: 120_000 }),
  'a listing beyond the size limit': createFailure('too_large'),
  'JSON that is not a listing': createFailure('bad_shape'),
  'invalid records': { listing: { ...createObservation().listing, invalid: 2 } },
  'a rejection by ret': rejected,
  'a large clock offset': { ...rejected, clock: { aheadMs: -3_600_000, uncertaintyMs: 600 } },
  'a rejected secret in quotes': { ...rejected, secret: { ...secret, isQuoted: true } },
  'an accepted secret with quotes': { secret: { ...secret, isQuoted: true } },
  'a rejected service code in quotes': { ...rejected, serviceCode: '"TESTING"' },
  'a rejected service code with an invisible character': { ...rejected, serviceCode: 'TEST\u200bING' },
};

test('each finding has its remedies, the likeliest first', () => {
  const sections = Object.entries(CASES).map(([name, overrides]) => [
    `=== ${name}\n`,
    ...findRemedies(createObservation(overrides)).map((remedy) => `${remedy}\n`),
  ]);
  assertGolden('diagnostics/remedies.txt', sections.flat().join(''));
});

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
    ...Object.values(CASES).flatMap((overrides) => findRemedies(createObservation(overrides))),
  ];
  const named = remedies.flatMap((text) => text.match(/\b(?:upstream|poll|signing)\.[a-z_]+/g) ?? []);
  const reference = readRepositoryFile('config/reference.md');
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.filter((name) => !reference.includes(`| \`${name}\` |`)),
    [],
  );
});
