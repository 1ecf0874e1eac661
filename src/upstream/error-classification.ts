import { errors } from 'undici';
import { getErrorCode, getErrorMessage, isResourceError } from '../runtime/errors.ts';
import {
  BROKEN_HTTP,
  findErrorCodes,
  LENGTH_MISMATCH,
  NO_WASM_MEMORY,
  NOT_HTTP,
  POLL_ERRORS,
  PREMATURE_EOF,
  UNEXPECTED_END,
  UNNAMED_CERTIFICATE_ERROR,
} from './error-table.ts';
import { POLL_ERROR_REASONS, type PollErrorReason, UpstreamError } from './errors.ts';

/** The words of undici for a response with status 101, for which no request asks. */
const SWITCHING_PROTOCOLS = 'bad upgrade';
/** Codes of the HTTP client, which only its authors know; the system's and those of TLS help to search. */
const INTERNAL_CODE = /^(?:UND_ERR|HPE|ERR_ASSERTION|ERR_STREAM|WASM)/;

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
  const sentence = findErrorCodes(reason, code)?.sentence ?? POLL_ERRORS[reason].sentence;
  const words = code === UNNAMED_CERTIFICATE_ERROR ? getErrorMessage(cause) : getParserWords(cause);
  const detail = words ?? codes;
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

function classifyCode(code: string | undefined): PollErrorReason {
  return POLL_ERROR_REASONS.find((reason) => findErrorCodes(reason, code) !== undefined) ?? 'connect';
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
