import type { ListingTarget } from '../upstream/client.ts';
import { TASK_LIST_PATH } from '../upstream/signing.ts';
import { minClockOffsetMs } from '../upstream/response-headers.ts';
import { findErrorCodes, FOREIGN_LISTING, NOT_HTTP, POLL_ERRORS } from '../upstream/error-table.ts';
import type { ResponseHead } from '../upstream/request-observer.ts';
import type { FailedListing, GoodListing } from './fetch-listing.ts';

/**
 * What a remedy is found by. Only the poll loop knows what has succeeded, and only an observed poll the rest.
 */
export interface Symptoms {
  readonly target: ListingTarget;
  readonly fetched: GoodListing | FailedListing;
  /** Whether a poll at this base URL has succeeded, of whichever service code. */
  readonly hasSucceeded?: boolean;
  /** Whether a poll at its scheme, host and port has. */
  readonly hasOriginSucceeded?: boolean;
  readonly connection?: { readonly proxy?: string };
  readonly times?: { readonly connectedMs: number | undefined };
}

const NOT_TLS_CODES: readonly string[] = [
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'EPROTO',
];
const API_PATH = /\/api(?:\/|$)/;
/** First bytes of gzip (RFC 1952), each as one character. */
const GZIP_START = '\u001f\u008b';
/** In a body that begins as something else: a warning of PHP, for example. */
const LISTING_KEY = /[{,]\s*"(?:ret|user_list|task_list)"\s*:/;
const QUOTED = /^(["']).*\1$/s;

/** The interface specifies no tolerance; below this offset, the clock is not a likely cause. */
const CLOCK_TOLERANCE_MS = 30_000;

/** The remedies for the causes that the symptoms match, the likeliest first; for a failure, at least one. */
export function findRemedies(symptoms: Symptoms): readonly string[] {
  const remedies = [...diagnoseExchange(symptoms), ...diagnoseRejection(symptoms)];
  const { error } = symptoms.fetched;
  return remedies.length > 0 || error === undefined ? remedies : [POLL_ERRORS[error.reason].remedy];
}

/** Recognizes causes by stage of the poll (connection, response), the likeliest of a stage first. */
function* diagnoseExchange(symptoms: Symptoms): Generator<string> {
  const { target, fetched, connection, times, hasSucceeded = false, hasOriginSucceeded = false } = symptoms;
  const { baseUrl } = target;
  const { error, response } = fetched;
  const url = new URL(baseUrl);
  const { host, hostname, origin, pathname } = url;
  const path = pathname.replace(/\/+$/, '');
  const { reason, code = '', addresses = 1, isCutOff, invalidByte } = error ?? {};
  const status = response?.status ?? 0;
  if (error !== undefined && response?.retryAfterMs !== undefined)
    yield 'The service asked for a pause (Retry-After): it limits requests, is overloaded or under maintenance. The exporter polls again after it. If this repeats, raise poll.interval, and check whether another exporter polls the same service codes.';
  if (!hasOriginSucceeded && reason === 'tls' && NOT_TLS_CODES.includes(code))
    yield `The server at ${host} does not speak TLS. If it is the service, use http:// in upstream.base_url.`;
  // A server that expects TLS closes the connection, sends a TLS alert, or answers 400 in plain text.
  const isBroken = response === undefined && (reason === 'reset' || code === NOT_HTTP);
  if (!hasOriginSucceeded && !baseUrl.startsWith('https:') && (isBroken || status === 400))
    yield `The server at ${host} may expect TLS. If it does, use https:// in upstream.base_url.`;
  const remedy = error && findErrorCodes(error.reason, code)?.remedy;
  if (remedy !== undefined) yield typeof remedy === 'string' ? remedy : remedy(url);
  if (addresses > 1)
    yield `The name has ${addresses} addresses, and none of them accepted a connection. Check each of them, and whether the name should have all of them.`;
  if (code === 'ECONNREFUSED' && connection?.proxy === undefined)
    yield `Nothing listens at ${host}. Check the host and port in upstream.base_url, and that the service is running.${connection === undefined ? ' If the environment sets a proxy, check that, too.' : ''}`;
  if (reason === 'timeout' && response !== undefined)
    yield 'The response started but did not end in time. If listings are large, raise upstream.timeout.';
  else if (reason === 'timeout' && times !== undefined)
    yield times.connectedMs === undefined
      ? 'The connection timed out. Check the firewalls and routes between this machine and the service.'
      : 'The service accepted the connection but did not respond in time. Check its load, or raise upstream.timeout.';
  if (error !== undefined && connection?.proxy !== undefined)
    yield `The request went through the proxy ${connection.proxy}, set by http_proxy or https_proxy in the environment. To connect directly, add ${hostname} to no_proxy.`;
  const hasApiPath = API_PATH.test(path);
  if (error !== undefined && response !== undefined && hasApiPath)
    yield `upstream.base_url contains a part of the API path: "${path}". Remove everything from /api on; the exporter adds ${TASK_LIST_PATH}.`;
  if (!hasSucceeded && status === 404 && !hasApiPath)
    yield 'The server has no task_list at this address. Set upstream.base_url to the service, with the path prefix of its gateway if it has one.';
  if (status >= 300 && status <= 399) {
    const redirect = getRedirectOrigin(response) ?? origin;
    const advice = redirect === origin ? '' : ` If ${redirect} is the service, use it in upstream.base_url.`;
    yield `The response is a redirect. The exporter does not follow it, because the signature is not valid for another address.${advice}`;
  }
  if (fetched.error !== undefined && response !== undefined) yield* diagnoseBody(fetched, response);
  if (invalidByte !== undefined && fetched.error !== undefined && hasBegun(fetched))
    yield `The listing is invalid at byte ${invalidByte}: the JSON of the service is broken. Report the error to the operator of the service.`;
  if (isCutOff === true)
    yield 'The listing ended early, although the connection did not break. Check the limits of size and time of the proxies and load balancers in front of the service.';
  if (status === 407)
    yield 'The proxy requires a user name and a password. Set them in the environment: http_proxy=http://user:password@host:port.';
  if (status === 429 && response?.retryAfterMs === undefined)
    yield 'The service requests fewer polls. Raise poll.interval, and check whether another exporter polls the same service codes.';
  if (status >= 500 && response?.retryAfterMs === undefined)
    yield 'The service or a load balancer in front of it failed (HTTP 5xx). No setting of the exporter fixes this.';
  if (code !== FOREIGN_LISTING && response !== undefined && response.ageMs > 0)
    yield `The response comes from a cache and is ${response.ageMs / 1000} s old. Exclude ${TASK_LIST_PATH} from caching.`;
  if (error === undefined && fetched.listing.rows.invalidRecords.labelSets.length > 0)
    yield 'Invalid entries are left out of all sums; xvs_exporter_invalid_records_total counts them. Report them to the operator of the service.';
  const offsetMs = minClockOffsetMs(response?.clockOffset);
  if (offsetMs > CLOCK_TOLERANCE_MS)
    yield `The clocks of this machine and of the service differ by at least ${Math.round(offsetMs / 1000)} s, and signatures are valid for a short time only. Synchronize the clock (NTP).`;
}

/** Names the cause that the body of a failed poll shows; of several, the one that is certain. */
function* diagnoseBody(
  { error, bytes, bodyStart = '' }: FailedListing,
  { header }: ResponseHead,
): Generator<string> {
  const { reason, code } = error;
  const text = bodyStart.trimStart();
  if (findErrorCodes(reason, code) !== undefined) return;
  if (reason === 'not_json' && bytes === 0)
    yield 'The response has no body. Check the proxies and load balancers in front of the service: one of them may have dropped it.';
  else if (text.startsWith(GZIP_START))
    yield 'The body is compressed with gzip, but the response has no Content-Encoding that says so. Check what compresses responses in front of the service: one program may have compressed the body twice or removed the header.';
  else if (reason === 'not_json' && !text.startsWith('{') && LISTING_KEY.test(text))
    yield 'The body has other text before the listing, for example a warning of a program (PHP). Report the error to the operator of the service.';
  else if (
    text.startsWith('<') ||
    (!/^[{[]/.test(text) && header('content-type')?.startsWith('text/html') === true)
  )
    yield 'The response is a web page, for example of a login, a load balancer or another site. Check which server listens at upstream.base_url.';
}

/** Whether a body that is not JSON began as a listing. */
function hasBegun({ ret, users, tasks }: FailedListing): boolean {
  return ret !== undefined || users + tasks > 0;
}

/** The service understood the request and rejected it. */
function* diagnoseRejection({ target, fetched }: Symptoms): Generator<string> {
  const { serviceCode, secret } = target;
  const { response } = fetched;
  const isApiError = fetched.error?.reason === 'api_error';
  if (!isApiError && response?.status !== 401 && response?.status !== 403) return;
  if (QUOTED.test(secret))
    yield 'The secret includes quotes. Remove them unless they are part of the secret; docker --env-file does not strip quotes.';
  if (QUOTED.test(serviceCode))
    yield 'The service code includes quotes. Remove them; docker --env-file does not strip quotes.';
  if (/\p{Cf}/u.test(serviceCode)) yield 'The service code has invisible characters. Type it again.';
  const code = isApiError ? `ret ${fetched.ret ?? 'unknown'}` : `HTTP status ${response?.status ?? ''}`;
  const clock = response?.clockOffset;
  const isClockGood = clock !== undefined && minClockOffsetMs(clock) <= CLOCK_TOLERANCE_MS;
  yield `The service rejected the request with ${code}. Most likely the secret does not belong to this service code, or the service does not have the code.${isClockGood ? ' The clocks agree.' : ''} If both are right, compare the string to sign with the one that the service signs (signing.template).`;
}

/** Scheme, host and port of the target of a redirect. */
export function getRedirectOrigin(response: ResponseHead | undefined): string | undefined {
  const location = response?.header('location') ?? '';
  return /^https?:/i.test(location) && URL.canParse(location) ? new URL(location).origin : undefined;
}
