import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '../../../src/diagnostics/observe-poll.ts';
import { findRemedies, type Symptoms } from '../../../src/poller/remedies.ts';
import { ALERTS } from '../../../src/web/status-page/problems.ts';
import { NO_WASM_MEMORY } from '../../../src/upstream/error-table.ts';
import { POLL_ERROR_REASONS } from '../../../src/upstream/errors.ts';
import { assertGolden } from '../../support/fixtures.ts';
import { readRepositoryFile } from '../../support/repository.ts';
import {
  createFailure,
  createGoodListing,
  createObservation,
  createResponse,
} from '../diagnostics/observations.ts';

/** A poll that failed without a response. */
const fail = (reason: Parameters<typeof createFailure>[0], code?: string): Partial<Observation> => ({
  fetched: createFailure(reason, code === undefined ? {} : { code }, { response: undefined }),
});
/** A poll that failed because of the status of its response. */
const respond = (status: number, headers: Readonly<Record<string, string>> = {}): Partial<Observation> => ({
  fetched: createFailure('http_status', {}, { response: createResponse({ status }, headers) }),
});
/** A poll that failed with a status, whose response asks for a pause. */
const pause = (status: number): Partial<Observation> => ({
  fetched: createFailure('http_status', {}, { response: createResponse({ status, retryAfterMs: 60_000 }) }),
});
/** A poll whose body is not JSON. */
const receive = (
  bodyStart: string,
  details: Parameters<typeof createFailure>[1] = {},
  headers: Readonly<Record<string, string>> = {},
): Partial<Observation> => ({
  fetched: createFailure('not_json', details, {
    bytes: bodyStart.length,
    bodyStart,
    response: createResponse({}, headers),
  }),
});
const HTML = { 'content-type': 'text/html; charset=utf-8' };
const { target } = createObservation();
/** A poll that the service rejected by `ret`. */
const reject = (head: Parameters<typeof createResponse>[0] = {}): Partial<Observation> => ({
  fetched: createFailure('api_error', {}, { ret: 1005, response: createResponse(head) }),
});
const succeed = (...response: Parameters<typeof createResponse>): Partial<Observation> => ({
  fetched: createGoodListing(undefined, createResponse(...response)),
});
const offset = (aheadMs: number) => ({ clockOffset: { aheadMs, uncertaintyMs: 500 } });
const http = { target: { ...target, baseUrl: 'http://live.example.com:8080' } };
const proxy = { connection: { proxy: 'proxy.example.com:3128' } };

/** Overrides of a successful observation by what they stand for. */
const CASES: Readonly<Record<string, Partial<Observation & Symptoms>>> = {
  'a successful poll': {},
  'a clock offset within the tolerance': succeed(offset(30_400)),
  'HTTPS to an HTTP port': fail('tls', 'ERR_SSL_WRONG_VERSION_NUMBER'),
  'HTTP to an HTTPS port that closes the connection': { ...fail('reset', 'UND_ERR_SOCKET'), ...http },
  'HTTP to an HTTPS port that sends a TLS alert': { ...fail('not_json', 'HPE_INVALID_CONSTANT'), ...http },
  'a response that breaks HTTP': { ...fail('not_json', 'UND_ERR_HTTP_PARSER'), ...http },
  'HTTP to an HTTPS port that answers 400': { ...respond(400), ...http },
  'a connection that breaks after successful polls': {
    ...fail('reset', 'UND_ERR_SOCKET'),
    ...http,
    hasOriginSucceeded: true,
  },
  'status 404 at another path of a server that is polled': { ...respond(404), hasOriginSucceeded: true },
  'status 400 after successful polls': { ...respond(400), ...http, hasOriginSucceeded: true },
  'a listing with an invalid byte': {
    fetched: createFailure('not_json', { invalidByte: 207 }, { ret: 0, users: 1 }),
  },
  'a broken connection over TLS': fail('reset', 'ECONNRESET'),
  'a server with HTTP/2 only': fail('tls', 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'),
  'a server with TLS 1.1 only': fail('tls', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'),
  'a server that requires a client certificate': fail('tls', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'),
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
  'no address space for WebAssembly': fail('resources', NO_WASM_MEMORY),
  'a connect timeout': {
    ...fail('timeout'),
    times: { connectedMs: undefined, firstByteMs: undefined, totalMs: 1 },
  },
  'a timeout before the response': fail('timeout'),
  'a timeout within the response': { fetched: createFailure('timeout') },
  'a base URL that contains the API path': {
    ...respond(404),
    target: { ...target, baseUrl: 'https://live.example.com/api/20140928' },
  },
  'status 404': respond(404),
  'a redirect to another host': respond(301, { location: 'https://other.example.com/x?token=1' }),
  'a redirect within the service': respond(302),
  'a web page, recognized by its first character': receive(' <!doctype html>'),
  'a web page, recognized by its media type': receive('Welcome', {}, HTML),
  'a web page of status 502': { ...respond(502, HTML) },
  'a listing with the media type of a web page': succeed({}, HTML),
  'a warning of PHP before the listing': receive(
    '<br />\n<b>Warning</b>:  Undefined index in <b>/srv/a.php</b><br />\n{"ret":0,"user_list":[',
    {},
    HTML,
  ),
  'text before the listing': receive('Notice: cache miss\n{ "ret" : 0, "user_list": ['),
  'gzip without its header': receive('\u001f\u008b\b'),
  'a content coding that the exporter does not accept': {
    fetched: createFailure('not_json', { code: 'UNACCEPTED_CODING' }, { bytes: undefined }),
  },
  'a body that is not compressed as its header says': {
    fetched: createFailure('not_json', { code: 'Z_DATA_ERROR' }, { bytes: undefined }),
  },
  'a listing that is cut off': { fetched: createFailure('not_json', { isCutOff: true }) },
  'an empty body': receive(''),
  'status 401': respond(401),
  'status 403': respond(403),
  'status 407': respond(407),
  'status 429': respond(429),
  'status 502': respond(502),
  'status 401 with Retry-After': pause(401),
  'status 403 with Retry-After': pause(403),
  'status 429 with Retry-After': pause(429),
  'status 503 with Retry-After': pause(503),
  'a rejection by ret with Retry-After': reject({ retryAfterMs: 60_000 }),
  'a name with two addresses': {
    fetched: createFailure('timeout', { code: 'ETIMEDOUT', addresses: 2 }, { response: undefined }),
  },
  'a response of a cache': succeed({ ageMs: 120_000 }),
  'a listing of another service code': { fetched: createFailure('bad_shape', { code: 'FOREIGN_LISTING' }) },
  'a listing beyond the size limit': { fetched: createFailure('too_large') },
  'JSON that is not a listing': { fetched: createFailure('bad_shape') },
  'invalid records': { fetched: createGoodListing({ ret: 0, user_list: [7], task_list: [] }) },
  'a rejection by ret': reject(),
  'a large clock offset': reject(offset(-3_600_100)),
  'a rejected secret in quotes': { ...reject(), target: { ...target, secret: '"abc"' } },
  'an accepted secret with quotes': { target: { ...target, secret: '"abc"' } },
  'a rejected service code in quotes': { ...reject(), target: { ...target, serviceCode: '"TESTING"' } },
  'a rejected service code with an invisible character': {
    ...reject(),
    target: { ...target, serviceCode: 'TEST\u200bING' },
  },
};

test('each finding has its remedies, the likeliest first', () => {
  const sections = Object.entries(CASES).map(([name, overrides]) => [
    `=== ${name}\n`,
    ...findRemedies({ ...createObservation(overrides), ...overrides }).map((remedy) => `${remedy}\n`),
  ]);
  assertGolden('poller/remedies.txt', sections.flat().join(''));
});

test('every setting that a remedy names exists', () => {
  const remedies = [
    ...POLL_ERROR_REASONS.flatMap((reason) =>
      findRemedies(createObservation({ fetched: createFailure(reason) })),
    ),
    ...Object.values(ALERTS).map(([, action]) => action),
    ...Object.values(CASES).flatMap((overrides) => findRemedies(createObservation(overrides))),
  ];
  const named = remedies.flatMap(
    (text) => text.match(/\b(?:upstream|poll|signing|ledger|state)\.[a-z_]+/g) ?? [],
  );
  const reference = readRepositoryFile('config/reference.md');
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.filter((name) => !reference.includes(`| \`${name}\` |`)),
    [],
  );
});
