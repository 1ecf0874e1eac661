import { errors } from 'undici';
import { getErrorCode, getErrorMessage, isResourceError } from '../runtime/errors.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import {
  BROKEN_HTTP,
  CONNECT_TIMEOUT,
  LENGTH_MISMATCH,
  NO_CONNECTION,
  NO_WASM_MEMORY,
  NOT_HTTP,
  PREMATURE_EOF,
  PROXY_STATUS,
  UNASKED_STATUS,
  UNEXPECTED_END,
  UNNAMED_CERTIFICATE_ERROR,
} from './error-codes.ts';
import { findErrorCodes, POLL_ERRORS } from './error-table.ts';
import { MAX_NAMED_ADDRESSES } from './peer.ts';
import { type Attempt, POLL_ERROR_REASONS, type PollErrorReason, UpstreamError } from './errors.ts';

/** The words of undici for a status for which no request asks: it closes the connection. */
const UNASKED_STATUSES: ReadonlyMap<string, number> = new Map([
  ['bad response', 100],
  ['bad upgrade', 101],
]);
/** The words of undici for a proxy that rejects a request with plain http. */
const PROXY_AUTHENTICATION = /^Proxy Authentication Required/;
/** The names of RFC 9110's registry that proxies use; the rest of the header is the proxy's own text. */
const AUTHENTICATION_SCHEMES = /\b(?:Basic|Digest|Negotiate|NTLM|Kerberos)\b/gi;
/** Around the error of a proxy's certificate. */
const PROXY_TLS = 'UND_ERR_PRX_TLS';

/** Codes of the HTTP client, which only its authors know; the system's and those of TLS help to search. */
const INTERNAL_CODE = /^(?:UND_ERR|HPE|ERR_ASSERTION|ERR_STREAM|WASM)/;

/** What is known of a request besides its error. */
interface RequestContext {
  readonly hasHeaders?: boolean;
  /** The addresses that its connection tried, each with its port; connected or failed is the last one. */
  readonly addresses?: readonly string[];
  /** URL of the proxy, without credentials, if the connection is one to it. */
  readonly proxy?: string | undefined;
  readonly viaProxy?: string | undefined;
}

/**
 * Classifies the error of a request, after its headers or before; unknown errors are `connect`. The cause is
 * a copy of message and stack: HTTP parser errors carry bytes of the response, and others a certificate or a
 * URL with its query.
 */
export function toUpstreamError(error: unknown, context: RequestContext = {}): UpstreamError {
  const { hasHeaders = false, addresses = [], proxy, viaProxy } = context;
  const cause = findCause(error);
  if (cause instanceof UpstreamError) return cause;
  const unasked = cause instanceof errors.SocketError ? UNASKED_STATUSES.get(cause.message) : undefined;
  if (unasked !== undefined) return createUnaskedStatusError(String(unasked), unasked);
  if (cause instanceof errors.InvalidArgumentError && PROXY_AUTHENTICATION.test(cause.message))
    return createProxyStatusError(407, proxy);
  const foundCode = getCode(cause);
  const code = foundCode === LENGTH_MISMATCH && !hasHeaders ? BROKEN_HTTP : foundCode;
  const reason = isResourceError(cause) ? 'resources' : classifyCode(code);
  const attempts = listAttempts(error, code, code === CONNECT_TIMEOUT ? addresses : addresses.slice(-1));
  const words = code === UNNAMED_CERTIFICATE_ERROR ? getErrorMessage(cause) : getParserWords(cause);
  const detail = words ?? formatAttempts(attempts);
  const sentence = getSentence(reason, code, proxy);
  return new UpstreamError(reason, detail === '' ? sentence : `${sentence} (${detail})`, {
    code,
    attempts,
    proxy,
    viaProxy,
    isCutOff: code === UNEXPECTED_END,
    cause: error instanceof Error ? copyMessageAndStack(error) : undefined,
  });
}

export function createUnaskedStatusError(found: string, status?: number): UpstreamError {
  const message = `Expected HTTP status 2xx, found ${found}`;
  return new UpstreamError('http_status', message, { status, code: UNASKED_STATUS });
}

/** A proxy opens no tunnel, or asks for a password as `challenge` says. The status is not the service's. */
export function createProxyStatusError(
  status: number,
  proxy: string | undefined,
  challenge: string | readonly string[] = '',
): UpstreamError {
  const schemes = String(challenge).match(AUTHENTICATION_SCHEMES) ?? [];
  const found = [status, ...(schemes.length > 0 ? [`(${[...new Set(schemes)].join(', ')})`] : [])].join(' ');
  const message = `Expected HTTP status 200 from the proxy, found ${found}`;
  return new UpstreamError('connect', message, { code: `${PROXY_STATUS}${status}`, proxy });
}

/** A request got no response in time; the code says what it waited for. */
export function createTimeoutError(
  code: string,
  timeoutMs: number,
  { addresses = [], proxy, viaProxy }: RequestContext,
): UpstreamError {
  const tried = code === NO_CONNECTION ? addresses : addresses.slice(-1);
  const attempts = tried.map((address) => ({ address, code: undefined }));
  const named = attempts.length === 0 ? '' : ` (${formatAttempts(attempts)})`;
  const message = `${getSentence('timeout', code, proxy)} within ${timeoutMs / 1000}s${named}`;
  return new UpstreamError('timeout', message, { code, attempts, proxy, viaProxy });
}

/** That of the reason or, if it says more, of the code. */
function getSentence(reason: PollErrorReason, code: string | undefined, proxy: string | undefined): string {
  const sentence = findErrorCodes(reason, code)?.sentence ?? POLL_ERRORS[reason].sentence;
  return proxy === undefined ? sentence : sentence.replace(/\bservice\b/, 'proxy');
}

/** The innermost error, or the first one on the way that has a code. */
function findCause(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof UpstreamError) return error;
  const code = getCode(error);
  if (code !== undefined && code !== PROXY_TLS) return error;
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

/** The addresses that the error names, one for each of a name, else those that were tried. */
function listAttempts(
  error: unknown,
  code: string | undefined,
  tried: readonly string[],
): readonly Attempt[] {
  const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const named = all.map((one) => ({ address: readAddress(one), code: getCode(one) }));
  if (named.some(({ address }) => address !== undefined)) return named;
  const [address, ...more] = tried;
  if (address === undefined) return all.length > 1 ? named : [{ address, code }];
  return [address, ...more].map((one) => ({ address: one, code }));
}

/** The address in an error of the system. */
function readAddress(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('address' in error && 'port' in error)) return undefined;
  const { address, port } = error;
  return typeof address === 'string' && typeof port === 'number' ? formatHostPort(address, port) : undefined;
}

/** As in messages of Node.js: `ECONNREFUSED 127.0.0.1:80`. */
function formatAttempts(attempts: readonly Attempt[]): string {
  const texts = attempts.map(({ address, code = '' }) =>
    [INTERNAL_CODE.test(code) ? '' : code, address].filter(Boolean).join(' '),
  );
  const shown = [...new Set(texts)].filter((text) => text !== '');
  const more = shown.length - MAX_NAMED_ADDRESSES;
  return [...shown.slice(0, MAX_NAMED_ADDRESSES), ...(more > 0 ? [`${more} more`] : [])].join(', ');
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
