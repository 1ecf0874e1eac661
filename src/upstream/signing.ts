import { createHmac } from 'node:crypto';

/** How requests are signed, which the interface does not show. Default: as the vendor's public clients. */
export interface SigningScheme {
  readonly algorithm: 'sha256' | 'sha1' | 'sha384' | 'sha512' | 'md5';
  /** String to sign: text with the placeholders `{path}`, `{query}` and `{timestamp}`, already validated. */
  readonly template: string;
  readonly encoding: 'hex' | 'base64' | 'base64url';
  readonly timestampUnit: 'ms' | 's';
  readonly signatureHeader: string;
  readonly timestampHeader: string;
}

export interface SignedParts {
  /** As sent: percent-encoded, starting with `/`, without host and query. */
  readonly path: string;
  /** Not percent-encoded, without the leading `?`. */
  readonly query: string;
}

/** Path of the operation, relative to the base URL ("Endpoints" of the interface). */
export const TASK_LIST_PATH = '/api/20140928/task_list';

/** The address of a listing, in the forms needed to sign and to send the request. */
export interface ListingAddress extends SignedParts {
  readonly origin: string;
  /** Complete URL as sent, with a percent-encoded query. */
  readonly url: string;
}

/**
 * The address of a service code's listing ("Endpoints"). The path that is sent is signed; behind a proxy that
 * strips a prefix, the template needs the path that the service receives.
 *
 * @throws TypeError if `baseUrl` is not a URL, URIError if `serviceCode` contains a lone surrogate.
 */
export function buildListingAddress(baseUrl: string, serviceCode: string): ListingAddress {
  const base = new URL(baseUrl);
  const path = base.pathname.replace(/\/+$/, '') + TASK_LIST_PATH;
  return {
    origin: base.origin,
    path,
    query: `service_code=${serviceCode}`,
    url: `${base.origin}${path}?service_code=${encodeURIComponent(serviceCode)}`,
  };
}

const PLACEHOLDER = /\{(path|query|timestamp)\}/g;

/** Fills in a template in one pass, so that placeholders inside values stay as they are. */
export function createStringToSign(template: string, parts: SignedParts, timestamp: string): string {
  const values = new Map([
    ['path', parts.path],
    ['query', parts.query],
    ['timestamp', timestamp],
  ]);
  return template.replace(PLACEHOLDER, (placeholder, name: string) => values.get(name) ?? placeholder);
}

/** Returns the headers that sign a request ("Authentication" of the interface). */
export function signRequest(
  scheme: SigningScheme,
  secret: string,
  parts: SignedParts,
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(scheme.timestampUnit === 's' ? nowMs / 1000 : nowMs));
  const signature = createHmac(scheme.algorithm, secret)
    .update(createStringToSign(scheme.template, parts, timestamp))
    .digest(scheme.encoding);
  return { [scheme.signatureHeader]: signature, [scheme.timestampHeader]: timestamp };
}
