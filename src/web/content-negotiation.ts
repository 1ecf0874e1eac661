import Negotiator from 'negotiator';
import type { ExpositionFormat } from '../metrics/exposition/exposition-lines.ts';

/** An exposition format and the `Content-Type` that announces it. */
export interface NegotiatedFormat {
  readonly format: ExpositionFormat;
  readonly contentType: string;
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
/** Values of Prometheus 3's `escaping` parameter. All metric names here are legacy-valid, so none changes the body. */
const ESCAPING_SCHEMES = ['allow-utf-8', 'underscores', 'dots', 'values'];

/**
 * A media range matches an offer only if the offer has all its parameters, so each combination is an offer. The text
 * format comes first, because the order of offers decides between equal qualities.
 */
const OFFERS: readonly string[] = ['', ...ESCAPING_SCHEMES.map((scheme) => `; escaping=${scheme}`)].flatMap(
  (suffix) => [TEXT + suffix, OPENMETRICS + suffix],
);

/** Headers of real clients are below 400 characters; parsing 16 KiB of ranges would take up to 0.1 s. */
const MAX_HEADER_CHARS = 1024;

/**
 * Chooses the format by an `Accept` header (RFC 9110, 12.5.1; OpenMetrics 1.0, "Protocol Negotiation"). Falls back to
 * text 0.0.4 without a header, for a malformed one, and if nothing is acceptable.
 */
export function negotiateFormat(accept: string | undefined): NegotiatedFormat {
  const contentType = createNegotiator('accept', accept)?.mediaType(OFFERS) ?? TEXT;
  return { format: contentType.startsWith(OPENMETRICS) ? 'openmetrics' : 'text', contentType };
}

/** Whether a client prefers HTML to plain text: browsers name `text/html`, other clients accept any type. */
export function prefersHtml(accept: string | undefined): boolean {
  return createNegotiator('accept', accept)?.mediaType(['text/plain', 'text/html']) === 'text/html';
}

/** Whether a client accepts gzip and does not prefer the uncompressed body (`Accept-Encoding`, RFC 9110, 12.5.3). */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const negotiator = createNegotiator('accept-encoding', acceptEncoding);
  return negotiator?.encoding(['gzip', 'identity']) === 'gzip';
}

function createNegotiator(name: string, value: string | undefined): Negotiator | undefined {
  if (value === undefined || value.length > MAX_HEADER_CHARS) return undefined;
  return new Negotiator({ headers: { [name]: value } });
}
