import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';

import { errors } from 'undici';

import { toUpstreamError } from '../../../src/upstream/error-classification.ts';
import { NO_WASM_MEMORY } from '../../../src/upstream/error-codes.ts';

function createSystemError(code: string): Error {
  return Object.assign(new Error('message of the system'), { code });
}

const REASONS = {
  timeout: ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'],
  dns: ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NONAME'],
  connect: ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'UND_ERR_ABORTED', 'EWHATEVER'],
  tls: [
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    'ERR_OSSL_PEM_NO_START_LINE',
    'EPROTO',
  ],
  reset: ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ERR_STREAM_PREMATURE_CLOSE'],
  too_large: ['UND_ERR_HEADERS_OVERFLOW'],
  resources: ['EMFILE', 'ENFILE', 'ENOMEM', 'EAI_MEMORY', 'Z_MEM_ERROR'],
  not_json: ['Z_DATA_ERROR', 'Z_BUF_ERROR', 'ERR__ERROR_FORMAT_PADDING_1'],
} as const;

describe('error classification', () => {
  for (const [reason, codes] of Object.entries(REASONS)) {
    for (const code of codes) {
      it(`${code} is ${reason}`, () => {
        const error = toUpstreamError(createSystemError(code));
        assert.equal(error.reason, reason);
        const shown = /^(?:UND_ERR|ERR_STREAM)/.test(code) ? '' : ` \\(${code}\\)`;
        assert.match(error.message, new RegExp(`^(?:The|Could) [^:/()]*${shown}$`));
      });
    }
  }

  for (const [words, reason, sentence] of [
    ['Invalid EOF state', 'reset', 'The connection to the service was lost'],
    ['Expected HTTP/, RTSP/ or ICE/', 'not_json', 'The response is not HTTP'],
    ['Missing expected CR after response line', 'not_json', 'The headers or chunks break HTTP'],
  ] as const) {
    it(`the HTTP parser error "${words}" is ${reason}`, () => {
      const message = `Response does not match the HTTP/1.1 protocol (${words})`;
      const error = toUpstreamError(new errors.HTTPParserError(message));
      assert.deepEqual([error.reason, error.message], [reason, `${sentence} (${words})`]);
    });
  }

  for (const [hasHeaders, reason, sentence] of [
    [false, 'not_json', 'The headers or chunks break HTTP'],
    [true, 'reset', 'The body is not as long as Content-Length says'],
  ] as const) {
    it(`a mismatch of Content-Length ${hasHeaders ? 'after' : 'before'} the headers is ${reason}`, () => {
      const error = toUpstreamError(new errors.ResponseContentLengthMismatchError(), { hasHeaders });
      assert.deepEqual([error.reason, error.message], [reason, sentence]);
    });
  }

  it('finds the code of the certificate of a proxy', () => {
    const inner = createSystemError('ERR_TLS_CERT_ALTNAME_INVALID');
    const error = toUpstreamError(
      new errors.SecureProxyConnectionError(inner, 'Secure Proxy Connection failed'),
    );
    assert.deepEqual([error.reason, error.code], ['tls', 'ERR_TLS_CERT_ALTNAME_INVALID']);
  });

  it('finds the code in the cause', () => {
    assert.equal(
      toUpstreamError(new Error('outer', { cause: createSystemError('ENOTFOUND') })).reason,
      'dns',
    );
  });

  it('is resources if V8 gets no memory', () => {
    const error = new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory');
    assert.equal(toUpstreamError(error).reason, 'resources');
    assert.equal(toUpstreamError(error).code, NO_WASM_MEMORY);
    assert.equal(toUpstreamError(error).message, 'WebAssembly got no address space from this machine');
    assert.equal(toUpstreamError(new RangeError('Invalid array length')).reason, 'connect');
  });

  it('uses the error of the first of several addresses, and names the codes of all', () => {
    const error = toUpstreamError(
      new AggregateError([createSystemError('EHOSTUNREACH'), createSystemError('ETIMEDOUT')]),
    );
    assert.equal(error.reason, 'connect');
    assert.equal(error.message, 'Could not connect to the service (EHOSTUNREACH, ETIMEDOUT)');
    assert.equal(error.cause instanceof Error && error.cause.message, 'message of the system');
  });

  for (const unknown of [new Error('plain'), 'text', undefined, null, { code: 'ENOTFOUND' }]) {
    it(`${inspect(unknown).split('\n')[0]} is connect without a code`, () => {
      const error = toUpstreamError(unknown);
      assert.equal(error.reason, 'connect');
      assert.equal(error.message, 'Could not connect to the service');
    });
  }

  it('copies only message and stack of the original error', () => {
    const parserError = Object.assign(new errors.HTTPParserError('no HTTP'), {
      data: 'rtmp://live/hidden',
      headers: { 'xvs-signature': 'hidden' },
      cert: 'hidden',
    });
    const socketError = new errors.SocketError('other side closed');
    for (const original of [parserError, socketError]) {
      const error = toUpstreamError(original);
      assert.equal(error.cause instanceof Error && error.cause.message, original.message);
      assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /hidden'/);
    }
  });
});
