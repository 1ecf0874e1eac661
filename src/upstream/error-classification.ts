import { errors } from 'undici';
import { getErrorCode, getErrorMessage, isResourceError } from '../runtime/errors.ts';
import { POLL_ERRORS, type PollErrorReason, UpstreamError } from './errors.ts';

/** Sentences for reasons that mean more when they come from elsewhere. */
const MESSAGES: Readonly<Partial<Record<PollErrorReason, string>>> = {
  too_large: 'The response headers are too large',
  not_json: 'The response body could not be decoded',
};

const PREMATURE_EOF = 'HPE_INVALID_EOF_STATE';
/** Bytes that are not HTTP at all, for example a TLS alert. */
export const NOT_HTTP = 'HPE_INVALID_CONSTANT';
/** Headers or chunks that some clients accept. */
export const BROKEN_HTTP = 'UND_ERR_HTTP_PARSER';
/** WebAssembly got no address space. The error of V8 has no code. */
export const NO_WASM_MEMORY = 'WASM_MEMORY';
/** undici reports any error in headers so if they have a Content-Length. */
const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
/** The words of undici for a response with status 101, for which no request asks. */
const SWITCHING_PROTOCOLS = 'bad upgrade';
/** A compressed body ends early. */
const UNEXPECTED_END = 'Z_BUF_ERROR';

/** Codes of the HTTP client, which only its authors know; the system's and those of TLS help to search. */
const INTERNAL_CODE = /^(?:UND_ERR|HPE|ERR_ASSERTION|ERR_STREAM|WASM)/;

/** Sentences for codes that say more than the reason. */
const SENTENCES: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'The service closed the connection before the end of the response',
  [NO_WASM_MEMORY]: 'WebAssembly got no address space from this machine',
  [NOT_HTTP]: 'The response is not HTTP',
  [BROKEN_HTTP]: 'The headers or chunks break HTTP',
  [LENGTH_MISMATCH]: 'The body is not as long as Content-Length says',
  [UNEXPECTED_END]: 'The listing is cut off',
};

/**
 * Reasons by error code; others are `connect`. A peer that closes within a chunked body is `reset`. Other
 * HTTP parser errors are `not_json`: usually another program listens there; `reset` would blame the network.
 * undici 7 accepts statuses below 100 in its parser and fails an assertion after it.
 */
const CODES_BY_REASON: readonly (readonly [reason: PollErrorReason, codes: RegExp])[] = [
  ['timeout', /^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/],
  ['dns', /^(?:EAI_.*|ENOTFOUND|ENODATA)$/],
  ['tls', /^(?:EPROTO|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|UND_ERR_PRX_TLS)$/],
  ['tls', /^(?:ERR_SSL|ERR_TLS|ERR_OSSL|CERT|CRL|DEPTH_ZERO|ERROR_IN_CERT|SELF_SIGNED|UNABLE_TO)_/],
  ['reset', /^(?:ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/],
  ['reset', new RegExp(`^(?:ERR_STREAM_PREMATURE_CLOSE|${PREMATURE_EOF}|${LENGTH_MISMATCH})$`)],
  ['not_json', new RegExp(`^(?:ERR_ASSERTION|${NOT_HTTP}|${BROKEN_HTTP})$`)],
  ['not_json', /^(?:Z|ERR_BROTLI|ERR__ERROR)_/],
  ['too_large', /^UND_ERR_HEADERS_OVERFLOW$/],
];

/**
 * Classifies the error of a request, after its headers or before; unknown errors are `connect`. The cause is
 * a copy of message and stack: HTTP parser errors carry bytes of the response, and others a certificate or a
 * URL with its query.
 */
export function toUpstreamError(error: unknown, hasHeaders = false): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const cause = findCause(error);
  if (cause instanceof errors.SocketError && cause.message === SWITCHING_PROTOCOLS)
    return new UpstreamError('http_status', 'Expected HTTP status 2xx, found 101', { status: 101 });
  const foundCode = getCode(cause);
  const code = foundCode === LENGTH_MISMATCH && !hasHeaders ? BROKEN_HTTP : foundCode;
  const reason = isResourceError(cause) ? 'resources' : classifyCode(code);
  const addressCodes = error instanceof AggregateError ? error.errors.map(getCode) : [code];
  const codes = [...new Set(addressCodes)]
    .filter((found) => found !== undefined && !INTERNAL_CODE.test(found))
    .join(', ');
  const sentence = SENTENCES[code ?? ''] ?? MESSAGES[reason] ?? POLL_ERRORS[reason].meaning;
  const detail = getParserWords(cause) ?? codes;
  const message = detail === '' ? sentence : `${sentence} (${detail})`;
  return new UpstreamError(reason, message, {
    code,
    addresses: addressCodes.length,
    isCutOff: code === UNEXPECTED_END,
    cause: error instanceof Error ? copyMessageAndStack(error) : undefined,
  });
}

/** The innermost error, or the first one on the way that has a code. */
function findCause(error: unknown): unknown {
  if (!(error instanceof Error) || getCode(error) !== undefined) return error;
  const inner = getFirstOfAddresses(error) ?? error.cause;
  return inner === undefined ? error : findCause(inner);
}

function getCode(error: unknown): string | undefined {
  if (error instanceof RangeError && error.message.includes('Wasm memory')) return NO_WASM_MEMORY;
  const words = getParserWords(error);
  if (words === undefined) return getErrorCode(error);
  if (words.includes('EOF')) return PREMATURE_EOF;
  return words.startsWith('Expected HTTP/') ? NOT_HTTP : BROKEN_HTTP;
}

/** One of the fixed texts of the HTTP parser. undici 7 leaves the code of its errors empty. */
function getParserWords(error: unknown): string | undefined {
  return error instanceof errors.HTTPParserError ? /\((.*)\)/.exec(error.message)?.[1] : undefined;
}

function classifyCode(code = ''): PollErrorReason {
  return CODES_BY_REASON.find(([, codes]) => codes.test(code))?.[0] ?? 'connect';
}

/** A host with several addresses has an error for each, and an empty message. */
function getFirstOfAddresses(error: Error): unknown {
  return error instanceof AggregateError ? error.errors[0] : undefined;
}

function copyMessageAndStack(error: Error): Error {
  const copy = new Error(getErrorMessage(getFirstOfAddresses(error) ?? error));
  copy.name = error.name;
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}
