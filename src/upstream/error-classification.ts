import { errors } from 'undici';

import { UpstreamError } from './errors.ts';

type FailureReason = 'timeout' | 'dns' | 'connect' | 'tls' | 'reset' | 'too_large' | 'not_json';

const SENTENCES: Readonly<Record<FailureReason, string>> = {
  timeout: 'The service did not answer in time',
  dns: 'The name of the service could not be resolved',
  connect: 'No connection to the service could be made',
  tls: 'No trusted TLS connection to the service could be made',
  reset: 'The connection to the service broke',
  too_large: 'The header of the answer is too large',
  not_json: 'The answer could not be decoded',
};

const ENDED_EARLY = 'HPE_INVALID_EOF_STATE';
const NOT_HTTP = 'UND_ERR_HTTP_PARSER';

/**
 * A peer that closes within a chunked body is a connection that broke. The other errors of the HTTP parser are an
 * answer that is no HTTP, mostly because another thing listens there: `not_json` is the reason that sends the
 * operator to look at what answers, where `reset` would send to the network. `UND_ERR_ABORTED` is what undici says
 * where a proxy refuses a tunnel.
 */
const REASON_OF_CODE: ReadonlyMap<string, FailureReason> = new Map([
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
  ['ETIMEDOUT', 'timeout'],
  ['ENOTFOUND', 'dns'],
  ['ENODATA', 'dns'],
  ['ECONNREFUSED', 'connect'],
  ['EHOSTUNREACH', 'connect'],
  ['EHOSTDOWN', 'connect'],
  ['ENETUNREACH', 'connect'],
  ['ENETDOWN', 'connect'],
  ['EADDRNOTAVAIL', 'connect'],
  ['EACCES', 'connect'],
  ['EPERM', 'connect'],
  ['EMFILE', 'connect'],
  ['UND_ERR_ABORTED', 'connect'],
  ['EPROTO', 'tls'],
  ['INVALID_CA', 'tls'],
  ['INVALID_PURPOSE', 'tls'],
  ['PATH_LENGTH_EXCEEDED', 'tls'],
  ['HOSTNAME_MISMATCH', 'tls'],
  ['UND_ERR_PRX_TLS', 'tls'],
  ['ECONNRESET', 'reset'],
  ['ECONNABORTED', 'reset'],
  ['EPIPE', 'reset'],
  ['UND_ERR_SOCKET', 'reset'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'reset'],
  ['ERR_STREAM_PREMATURE_CLOSE', 'reset'],
  [ENDED_EARLY, 'reset'],
  [NOT_HTTP, 'not_json'],
  ['UND_ERR_HEADERS_OVERFLOW', 'too_large'],
]);

const REASON_OF_PREFIX: readonly (readonly [prefix: string, reason: FailureReason])[] = [
  ['EAI_', 'dns'],
  ['ERR_SSL_', 'tls'],
  ['ERR_TLS_', 'tls'],
  ['ERR_OSSL_', 'tls'],
  ['CERT_', 'tls'],
  ['CRL_', 'tls'],
  ['DEPTH_ZERO_', 'tls'],
  ['ERROR_IN_CERT_', 'tls'],
  ['SELF_SIGNED_', 'tls'],
  ['UNABLE_TO_', 'tls'],
  ['Z_', 'not_json'],
  ['ERR_BROTLI_', 'not_json'],
  ['ERR__ERROR_', 'not_json'],
];

/**
 * What a failed exchange means: `connect` where nothing better is known, and an {@link UpstreamError} as it is.
 * The message is a constant sentence and the code. The cause is a copy of message and stack alone, as errors of
 * the HTTP parser carry the bytes of the answer, and others a certificate or an address with its query.
 */
export function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) {
    return error;
  }
  const code = codeOf(error);
  const reason = reasonOf(code);
  const message = code === undefined ? SENTENCES[reason] : `${SENTENCES[reason]} (${code})`;
  return new UpstreamError(reason, message, {
    ...(code !== undefined && { code }),
    cause: error instanceof Error ? bareCopy(error) : undefined,
  });
}

function reasonOf(code: string | undefined): FailureReason {
  if (code === undefined) {
    return 'connect';
  }
  return (
    REASON_OF_CODE.get(code) ?? REASON_OF_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'connect'
  );
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  if (error instanceof errors.HTTPParserError) {
    // undici 7 leaves its code empty: the sentence of the parser is all there is.
    return /EOF/.test(error.message) ? ENDED_EARLY : NOT_HTTP;
  }
  if ('code' in error && typeof error.code === 'string') {
    return error.code;
  }
  return codeOf(error instanceof AggregateError ? error.errors[0] : error.cause);
}

function bareCopy(error: Error): Error {
  // Where each of several addresses was tried, the error of the whole has an empty message.
  const told: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const copy = new Error(told instanceof Error ? told.message : error.message);
  copy.name = error.name;
  if (error.stack !== undefined) {
    copy.stack = error.stack;
  }
  return copy;
}
