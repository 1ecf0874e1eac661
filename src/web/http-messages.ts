import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import type { ExpositionFormat } from '../metrics/exposition.ts';

/** An HTTP request without its socket. */
export interface WebRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly scheme: 'http' | 'https';
  /** Of the Unix socket that the request came through. */
  readonly socketPath: string | undefined;
  /** Whether the client had to present a password or a verified certificate. */
  readonly isAuthenticated: boolean;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface WebResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Paths that report the state of the process and bypass limits. */
export const PROBE_PATHS = { health: '/-/healthy', readiness: '/-/ready' } as const;

/** Brings a target to origin form: the host of an absolute form replaces `Host` (RFC 9112, 3.2.2). */
export function useOriginForm(request: Pick<IncomingMessage, 'url' | 'headers'>): void {
  const [, host, target] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url ?? '') ?? [];
  if (host === undefined || target === undefined) return;
  request.url = target.startsWith('/') ? target : `/${target}`;
  request.headers.host = host;
}

export function isProbe(url: string): boolean {
  const [path] = url.split('?', 1);
  return path === PROBE_PATHS.health || path === PROBE_PATHS.readiness;
}

/** `URL` does not fit: it takes `//host/metrics` for a host, and rejects targets such as `*`. */
export function parseRequestTarget(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const queryStart = url.indexOf('?');
  if (queryStart < 0) return { path: url, query: new URLSearchParams() };
  return { path: url.slice(0, queryStart), query: new URLSearchParams(url.slice(queryStart)) };
}

/** Builds a response that caches must not store and browsers must not sniff. */
export function respond(
  status: number,
  content: string | Buffer,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): WebResponse {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  return {
    status,
    headers: {
      'Content-Type': contentType,
      'Content-Length': String(body.length),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
    body,
  };
}

export function respondText(
  status: number,
  line: string,
  headers: Readonly<Record<string, string>> = {},
): WebResponse {
  return respond(status, `${line}\n`, 'text/plain; charset=utf-8', headers);
}

const gzipInThread = promisify(gzip);

/** Builds a 200 response, compressed if the client accepts gzip. */
export async function respondCompressed(
  body: string,
  contentType: string,
  { 'accept-encoding': acceptEncoding }: IncomingHttpHeaders,
  headers: Readonly<Record<string, string>> = {},
): Promise<WebResponse> {
  const vary = { ...headers, Vary: 'Accept-Encoding' };
  if (!acceptsGzip(acceptEncoding)) return respond(200, body, contentType, vary);
  const compressed = await gzipInThread(body, { level: 1 });
  return respond(200, compressed, contentType, { ...vary, 'Content-Encoding': 'gzip' });
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
/** Values of Prometheus 3's `escaping`. None changes the body: all names here are legacy-valid. */
const ESCAPING_SCHEMES = ['allow-utf-8', 'underscores', 'dots', 'values'];

/**
 * A media range matches only offers with all its parameters, so each combination is an offer. The text
 * format comes first, because the order of offers decides between equal qualities.
 */
const OFFERS: readonly string[] = ['', ...ESCAPING_SCHEMES.map((scheme) => `; escaping=${scheme}`)].flatMap(
  (suffix) => [TEXT + suffix, OPENMETRICS + suffix],
);

/** Headers of real clients are below 400 characters; parsing 16 KiB of ranges would take up to 0.1 s. */
const MAX_HEADER_CHARS = 1024;

/**
 * Chooses the format by `Accept` (RFC 9110, 12.5.1; OpenMetrics 1.0, "Protocol Negotiation"): text 0.0.4 if
 * the header is missing or malformed, or nothing is acceptable.
 */
export function negotiateFormat(accept: string | undefined): {
  readonly format: ExpositionFormat;
  readonly contentType: string;
} {
  const contentType = createNegotiator('accept', accept)?.mediaType(OFFERS) ?? TEXT;
  return { format: contentType.startsWith(OPENMETRICS) ? 'openmetrics' : 'text', contentType };
}

/** Whether the client accepts gzip and does not prefer the uncompressed body (RFC 9110, 12.5.3). */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const negotiator = createNegotiator('accept-encoding', acceptEncoding);
  return negotiator?.encoding(['gzip', 'identity']) === 'gzip';
}

function createNegotiator(name: string, value: string | undefined): Negotiator | undefined {
  if (value === undefined || value.length > MAX_HEADER_CHARS) return undefined;
  return new Negotiator({ headers: { [name]: value } });
}
