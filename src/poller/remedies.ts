import { MAX_URL_CHARACTERS } from '../runtime/limits.ts';
import type { ListingTarget } from '../upstream/client.ts';
import { TASK_LIST_PATH } from '../upstream/signing.ts';
import { minClockOffsetMs } from '../upstream/response-headers.ts';
import { FOREIGN_LISTING, NOT_HTTP } from '../upstream/error-codes.ts';
import { findCodeRemedy, findErrorCodes, POLL_ERRORS } from '../upstream/error-table.ts';
import type { ResponseHead } from '../upstream/request-observer.ts';
import type { FailedListing, GoodListing } from './fetch-listing.ts';

/** What a remedy is found by. Only the poll loop knows what has succeeded. */
export interface Symptoms {
  readonly target: ListingTarget;
  readonly fetched: GoodListing | FailedListing;
  /** Whether a poll at this base URL has succeeded, of whichever service code. */
  readonly hasSucceeded?: boolean;
  /** Whether a poll at its scheme, host and port has. */
  readonly hasOriginSucceeded?: boolean;
}

const NOT_TLS_CODES: readonly string[] = [
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'EPROTO',
];
const API_PATH = /\/api(?:\/|$)/;
/** Schemes of users and tokens; the service signs. */
const HTTP_AUTHENTICATION = /^\s*(?:Basic|Bearer|Digest|Negotiate|NTLM)\b/i;
const REJECTIONS: readonly number[] = [401, 403];
/** undici's code of a connection that the peer has closed, after the handshake. */
const CLOSED = 'UND_ERR_SOCKET';
/** In the pages of nginx ("No required SSL certificate was sent") and IIS, with 400 and 403. */
const CLIENT_CERTIFICATE_PAGE = /SSL certificate|client certificate/i;
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
  const { target, fetched, hasSucceeded = false, hasOriginSucceeded = false } = symptoms;
  const { baseUrl } = target;
  const { error, response } = fetched;
  const { host, hostname, origin, pathname } = new URL(baseUrl);
  const path = pathname.replace(/\/+$/, '');
  const { reason, code = '', isCutOff, invalidByte } = error ?? {};
  if (error !== undefined && response?.retryAfterMs !== undefined)
    yield 'The service asked for a pause (Retry-After): it limits requests, is overloaded or under maintenance. The exporter polls again after it. If this repeats, raise poll.interval, and check whether another exporter polls the same service codes.';
  const failedProxy = error?.proxy && new URL(error.proxy).host;
  if (reason === 'tls' && NOT_TLS_CODES.includes(code)) {
    if (failedProxy !== undefined)
      yield `The proxy ${failedProxy} does not speak TLS. Use http:// in the variable that sets it (https_proxy or http_proxy).`;
    else if (!hasOriginSucceeded)
      yield `The server at ${host} does not speak TLS. If it is the service, use http:// in upstream.base_url.`;
  }
  const isFirstContact = !hasOriginSucceeded && failedProxy === undefined;
  const contactRemedies = isFirstContact ? [...diagnoseFirstContact(new URL(baseUrl), fetched)] : [];
  yield* contactRemedies;
  const remedy = error && findCodeRemedy(error, baseUrl);
  if (remedy !== undefined) yield remedy;
  if (reason === 'timeout' && response !== undefined)
    yield 'The response started but did not end in time. If listings are large, raise upstream.timeout.';
  const proxy = failedProxy ?? error?.viaProxy ?? response?.viaProxy;
  if (error !== undefined && proxy !== undefined)
    yield `The request went through the proxy ${proxy}, set by http_proxy or https_proxy in the environment. To connect directly, add ${hostname} to no_proxy.`;
  const hasApiPath = API_PATH.test(path);
  if (error !== undefined && response !== undefined && hasApiPath)
    yield `upstream.base_url contains a part of the API path: "${path}". Remove everything from /api on; the exporter adds ${TASK_LIST_PATH}.`;
  const statusRemedies =
    response === undefined ? [] : [...diagnoseStatus(response, origin, !hasSucceeded && !hasApiPath)];
  if (fetched.error !== undefined && response !== undefined)
    yield* diagnoseBody(fetched, response, statusRemedies.length + contactRemedies.length > 0);
  if (invalidByte !== undefined && fetched.error !== undefined && hasBegun(fetched))
    yield `The listing is invalid at byte ${invalidByte}: the JSON of the service is broken. Report the error to the operator of the service.`;
  if (isCutOff === true)
    yield 'The listing ended early, although the connection did not break. Check the limits of size and time of the proxies and load balancers in front of the service.';
  yield* statusRemedies;
  if (code !== FOREIGN_LISTING && response !== undefined && response.ageMs > 0)
    yield `The response comes from a cache and is ${response.ageMs / 1000} s old. Exclude ${TASK_LIST_PATH} from caching.`;
  if (error === undefined && fetched.listing.rows.invalidRecords.labelSets.length > 0)
    yield 'Invalid entries are left out of all sums; xvs_exporter_invalid_records_total counts them. Report them to the operator of the service.';
  const offsetMs = minClockOffsetMs(response?.clockOffset);
  if (offsetMs > CLOCK_TOLERANCE_MS)
    yield `The clocks of this machine and of the service differ by at least ${Math.round(offsetMs / 1000)} s, and signatures are valid for a short time only. Synchronize the clock (NTP).`;
}

/** Names what a server may expect that has never answered a request well. */
function* diagnoseFirstContact(
  { host, protocol }: URL,
  { error, response }: GoodListing | FailedListing,
): Generator<string> {
  const isClosed = response === undefined && error?.reason === 'reset';
  // A server that expects TLS closes the connection, sends a TLS alert, or answers 400 in plain text.
  if (protocol === 'http:') {
    if (isClosed || (response === undefined && error?.code === NOT_HTTP) || response?.status === 400)
      yield `The server at ${host} may expect TLS. If it does, use https:// in upstream.base_url.`;
  } else if (isClosed && error?.code === CLOSED)
    yield `The server at ${host} closed the connection after the TLS handshake. If it requires a client certificate, check upstream.cert_file and upstream.key_file.`;
}

/** `isFirst` is whether no poll has succeeded at this address, which is none of the API. */
function* diagnoseStatus(response: ResponseHead, origin: string, isFirst: boolean): Generator<string> {
  const { status, retryAfterMs } = response;
  if (isFirst && status === 404)
    yield 'The server has no task_list at this address. Set upstream.base_url to the service, with the path prefix of its gateway if it has one.';
  if (status >= 300 && status <= 399) {
    const redirect = getRedirectOrigin(response) ?? origin;
    const advice = redirect === origin ? '' : ` If ${redirect} is the service, use it in upstream.base_url.`;
    yield `The response is a redirect. The exporter does not follow it, because the signature is not valid for another address.${advice}`;
  }
  if (status === 407)
    yield 'The proxy requires a user name and a password. Set them in the environment: http_proxy=http://user:password@host:port.';
  if (status === 429 && retryAfterMs === undefined)
    yield 'The service requests fewer polls. Raise poll.interval, and check whether another exporter polls the same service codes.';
  if (status >= 500 && retryAfterMs === undefined)
    yield 'The service or a load balancer in front of it failed (HTTP 5xx). No setting of the exporter fixes this.';
}

/**
 * Names the cause that the body of a failed poll shows; of several, the one that is certain. A page is none
 * where the status shows the cause: load balancers, for example, send pages with 503.
 */
function* diagnoseBody(
  { error, bytes, bodyStart = '' }: FailedListing,
  { status, header, retryAfterMs }: ResponseHead,
  isStatusClear: boolean,
): Generator<string> {
  const { reason, code } = error;
  const text = bodyStart.trimStart();
  if (findErrorCodes(reason, code) !== undefined) return;
  if (asksForCertificate(text, status)) {
    yield 'The server says that it requires another client certificate, or one at all. Check upstream.cert_file and upstream.key_file.';
    return;
  }
  if (reason === 'not_json' && bytes === 0)
    yield 'The response has no body. Check the proxies and load balancers in front of the service: one of them may have dropped it.';
  else if (text.startsWith(GZIP_START))
    yield 'The body is compressed with gzip, but the response has no Content-Encoding that says so. Check what compresses responses in front of the service: one program may have compressed the body twice or removed the header.';
  else if (reason === 'not_json' && !text.startsWith('{') && LISTING_KEY.test(text))
    yield 'The body has other text before the listing, for example a warning of a program (PHP). Report the error to the operator of the service.';
  else if (
    !isStatusClear &&
    retryAfterMs === undefined &&
    !REJECTIONS.includes(status) &&
    isPage(text, header)
  )
    yield 'The response is a web page, for example of a login, a load balancer or another site. Check which server listens at upstream.base_url.';
}

function isPage(bodyStart: string, header: ResponseHead['header']): boolean {
  const text = bodyStart.trimStart();
  return (
    text.startsWith('<') || (!/^[{[]/.test(text) && header('content-type')?.startsWith('text/html') === true)
  );
}

function asksForCertificate(bodyStart: string, status: number): boolean {
  return status >= 400 && status <= 499 && CLIENT_CERTIFICATE_PAGE.test(bodyStart);
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
  const bodyStart = fetched.error === undefined ? '' : (fetched.bodyStart ?? '');
  if (!isApiError) {
    if (response === undefined || !REJECTIONS.includes(response.status)) return;
    if (asksForCertificate(bodyStart, response.status)) return;
  }
  if (response?.status === 401 && HTTP_AUTHENTICATION.test(response.header('www-authenticate') ?? '')) {
    yield 'A program in front of the service asks for a user and a password or a token (WWW-Authenticate), of which the interface has none. Exclude the exporter from that, or set upstream.base_url to the service itself.';
    return;
  }
  if (QUOTED.test(secret))
    yield 'The secret includes quotes. Remove them unless they are part of the secret; docker --env-file does not strip quotes.';
  if (QUOTED.test(serviceCode))
    yield 'The service code includes quotes. Remove them; docker --env-file does not strip quotes.';
  if (/\p{Cf}/u.test(serviceCode)) yield 'The service code has invisible characters. Type it again.';
  const code = isApiError ? `ret ${fetched.ret ?? 'unknown'}` : `HTTP status ${response?.status ?? ''}`;
  const clock = response?.clockOffset;
  const isClockGood = clock !== undefined && minClockOffsetMs(clock) <= CLOCK_TOLERANCE_MS;
  const isOfOther = !isApiError && response !== undefined && isPage(bodyStart, response.header);
  const start = isOfOther
    ? `The request was rejected with ${code} and a web page, perhaps by a firewall or a login in front of the service. Else most likely`
    : `The service rejected the request with ${code}. Most likely`;
  yield `${start} the secret does not belong to this service code, or the service does not have the code.${isClockGood ? ' The clocks agree.' : ''} If both are right, compare the string to sign with the one that the service signs (signing.template).`;
}

/** Scheme, host and port of the target of a redirect; `undefined` if it is too long for a URL. */
export function getRedirectOrigin(response: ResponseHead | undefined): string | undefined {
  const location = response?.header('location') ?? '';
  if (location.length > MAX_URL_CHARACTERS) return undefined;
  return /^https?:/i.test(location) && URL.canParse(location) ? new URL(location).origin : undefined;
}
