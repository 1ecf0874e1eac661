import { errors } from 'undici';
import { getErrorCode, getErrorMessage, isResourceError } from '../runtime/errors.ts';
import { POLL_ERROR_SUMMARY, UpstreamError } from './errors.ts';

type FailureReason = 'timeout' | 'dns' | 'connect' | 'tls' | 'reset' | 'too_large' | 'not_json' | 'resources';

const MESSAGES: Readonly<Record<FailureReason, string>> = {
  ...POLL_ERROR_SUMMARY,
  too_large: 'The response headers are too large',
  not_json: 'The response body could not be decoded',
};

const PREMATURE_EOF = 'HPE_INVALID_EOF_STATE';
const NOT_HTTP = 'UND_ERR_HTTP_PARSER';

/**
 * Reasons by error code. A peer that closes the connection within a chunked body is `reset`. Every other HTTP parser
 * error is `not_json`: usually another program listens there, and `reset` would send the operator to the network.
 * undici reports `UND_ERR_ABORTED` if a proxy rejects a tunnel.
 */
const REASON_BY_CODE: ReadonlyMap<string, FailureReason> = new Map([
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
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
  [PREMATURE_EOF, 'reset'],
  [NOT_HTTP, 'not_json'],
  // undici 7 accepts statuses below 100 in its parser and fails an assertion after it.
  ['ERR_ASSERTION', 'not_json'],
  ['UND_ERR_HEADERS_OVERFLOW', 'too_large'],
]);

const REASON_BY_PREFIX: readonly (readonly [prefix: string, reason: FailureReason])[] = [
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
 * Classifies the error of a request; unknown errors are `connect`. Returns an {@link UpstreamError} unchanged.
 *
 * The message is a constant sentence with the code. The cause is a copy of message and stack only: HTTP parser errors
 * carry bytes of the response, and others a certificate or a URL with its query.
 */
export function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const code = findErrorCode(error);
  const reason = isResourceError(findCause(error)) ? 'resources' : classifyCode(code);
  const message = code === undefined ? MESSAGES[reason] : `${MESSAGES[reason]} (${code})`;
  return new UpstreamError(reason, message, {
    ...(code !== undefined && { code }),
    cause: error instanceof Error ? copyMessageAndStack(error) : undefined,
  });
}

function classifyCode(code: string | undefined): FailureReason {
  if (code === undefined) return 'connect';
  return (
    REASON_BY_CODE.get(code) ?? REASON_BY_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'connect'
  );
}

function findErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof errors.HTTPParserError) {
    // undici 7 leaves the code of these errors empty.
    return /EOF/.test(error.message) ? PREMATURE_EOF : NOT_HTTP;
  }
  return getErrorCode(error) ?? findErrorCode(getInnerError(error));
}

/** The innermost error with a code, or the innermost one. */
function findCause(error: unknown): unknown {
  const inner =
    error instanceof Error && getErrorCode(error) === undefined ? getInnerError(error) : undefined;
  return inner === undefined ? error : findCause(inner);
}

/** The error of the first of several addresses of a host, or the cause. */
function getInnerError(error: Error): unknown {
  return error instanceof AggregateError ? error.errors[0] : error.cause;
}

function copyMessageAndStack(error: Error): Error {
  // An AggregateError, from several addresses of one host, has an empty message.
  const copy = new Error(getErrorMessage(error instanceof AggregateError ? error.errors[0] : error));
  copy.name = error.name;
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}
