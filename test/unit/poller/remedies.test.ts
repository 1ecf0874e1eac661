import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '../../../src/diagnostics/observe-poll.ts';
import { findRemedies, type Symptoms } from '../../../src/poller/remedies.ts';
import { ALERTS } from '../../../src/web/status-page/problems.ts';
import { NO_WASM_MEMORY } from '../../../src/upstream/error-codes.ts';
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
/** A poll whose connection to the proxy failed, or whose request it refused. */
const failAtProxy = (
  reason: Parameters<typeof createFailure>[0],
  details: Parameters<typeof createFailure>[1],
): Partial<Observation> => ({
  fetched: createFailure(
    reason,
    { ...details, proxy: 'http://proxy.example.com:3128' },
    { response: undefined },
  ),
});
/** A poll whose response has a status and a body. */
const respondWith = (
  status: number,
  bodyStart: string,
  headers: Readonly<Record<string, string>> = {},
): Partial<Observation> => ({
  fetched: createFailure('http_status', {}, { bodyStart, response: createResponse({ status }, headers) }),
});
/** A poll that got no response in time, from one address. */
const wait = (code: string): Partial<Observation> => ({
  fetched: createFailure(
    'timeout',
    { code, attempts: [{ address: '192.0.2.7:443', code: undefined }] },
    { response: undefined },
  ),
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
  'a server without a certificate for the name': fail('tls', 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR'),
  'a certificate for clients only': fail('tls', 'INVALID_PURPOSE'),
  'a certificate with a fault that has no name': fail('tls', 'UNSPECIFIED'),
  'a server that rejects the client certificate': fail('tls', 'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED'),
  'a server that closes the connection after the handshake': fail('reset', 'UND_ERR_SOCKET'),
  'a server with TLS 1.1 only': fail('tls', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'),
  'a server that requires a client certificate': fail('tls', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'),
  'a chain that is not complete': fail('tls', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
  'a chain of an unknown authority': fail('tls', 'SELF_SIGNED_CERT_IN_CHAIN'),
  'a self-signed certificate': fail('tls', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
  'an expired certificate': fail('tls', 'CERT_HAS_EXPIRED'),
  'a certificate for another host': fail('tls', 'ERR_TLS_CERT_ALTNAME_INVALID'),
  'no free file descriptor': fail('resources', 'EMFILE'),
  'an unknown host name': fail('dns', 'ENOTFOUND'),
  'name servers that do not answer': fail('dns', 'EAI_AGAIN'),
  'a port without a listener': {
    fetched: createFailure(
      'connect',
      { code: 'ECONNREFUSED', attempts: [{ address: '127.0.0.9:443', code: 'ECONNREFUSED' }] },
      { response: undefined },
    ),
  },
  'an address without a route': fail('connect', 'EHOSTUNREACH'),
  'a firewall of this machine': fail('connect', 'EPERM'),
  'no free local port': fail('connect', 'EADDRNOTAVAIL'),
  'a proxy port without a listener': failAtProxy('connect', {
    code: 'ECONNREFUSED',
    attempts: [{ address: '192.0.2.8:3128', code: 'ECONNREFUSED' }],
  }),
  'an unknown host name of the proxy': failAtProxy('dns', { code: 'ENOTFOUND' }),
  'a proxy of an unknown authority': failAtProxy('tls', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
  'HTTPS to an HTTP port of the proxy': failAtProxy('tls', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
  'a proxy that requires a password': failAtProxy('connect', { code: 'PROXY_STATUS_407' }),
  'a proxy that does not permit the service': failAtProxy('connect', { code: 'PROXY_STATUS_403' }),
  'a proxy that cannot connect to the service': failAtProxy('connect', { code: 'PROXY_STATUS_502' }),
  'status 503 through a proxy': {
    fetched: createFailure(
      'http_status',
      {},
      { response: createResponse({ status: 503, viaProxy: 'proxy.example.com:3128' }) },
    ),
  },
  'a proxy that opens no tunnel': failAtProxy('timeout', { code: 'NO_TUNNEL' }),
  'a chain of an unknown authority through a proxy': {
    fetched: createFailure(
      'tls',
      { code: 'SELF_SIGNED_CERT_IN_CHAIN', viaProxy: 'proxy.example.com:3128' },
      { response: undefined },
    ),
  },
  'a working proxy': proxy,
  'no address space for WebAssembly': fail('resources', NO_WASM_MEMORY),
  'a timeout without a free connection': wait('NO_FREE_CONNECTION'),
  'a timeout before an address is known': wait('NO_ADDRESS'),
  'a timeout before the connection': wait('NO_CONNECTION'),
  'a timeout within the handshake': wait('NO_HANDSHAKE'),
  'a timeout before the response': wait('NO_RESPONSE'),
  'a timeout within the response': { fetched: createFailure('timeout') },
  'a base URL that contains the API path': {
    ...respond(404),
    target: { ...target, baseUrl: 'https://live.example.com/api/20140928' },
  },
  'status 404': respond(404),
  'a redirect to another host': respond(301, { location: 'https://other.example.com/x?token=1' }),
  'a redirect to an address that is too long': respond(301, { location: `https://${'a.'.repeat(1024)}test` }),
  'a redirect within the service': respond(302),
  'a web page, recognized by its first character': receive(' <!doctype html>'),
  'a web page, recognized by its media type': receive('Welcome', {}, HTML),
  'a web page of status 400': respondWith(400, '<html>', HTML),
  'a web page of status 400 over HTTP': { ...respondWith(400, '<html>', HTML), ...http },
  'a web page of status 403': respondWith(403, '<html>', HTML),
  'a web page of status 404': respondWith(404, '<html>', HTML),
  'a web page of status 503': respondWith(503, '<html>', HTML),
  'a web page about the client certificate': respondWith(
    400,
    '<html><head><title>400 No required SSL certificate was sent</title>',
    HTML,
  ),
  'a rejection because of the client certificate': respondWith(
    403,
    '<p>HTTP Error 403.7: client certificate',
  ),
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
  'status 401 that asks for a password': respond(401, { 'www-authenticate': 'Basic realm="staging"' }),
  'status 401 that asks for a signature': respond(401, { 'www-authenticate': 'xvs' }),
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
    fetched: createFailure(
      'timeout',
      {
        code: 'ETIMEDOUT',
        attempts: [
          { address: '192.0.2.7:443', code: 'ETIMEDOUT' },
          { address: '[2001:db8::7]:443', code: 'ECONNREFUSED' },
        ],
      },
      { response: undefined },
    ),
  },
  'a response of a cache': succeed({ ageMs: 120_000 }),
  'a listing of another service code': { fetched: createFailure('bad_shape', { code: 'FOREIGN_LISTING' }) },
  'headers beyond the size limit': fail('too_large', 'UND_ERR_HEADERS_OVERFLOW'),
  'a status for which the request did not ask': fail('http_status', 'UNASKED_STATUS'),
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
