import { createHmac } from 'node:crypto';

/** How a request is signed. The defaults of the settings are the published scheme. */
export interface SigningScheme {
  /** Digest of the HMAC. */
  readonly algorithm: 'sha256' | 'sha1' | 'sha384' | 'sha512' | 'md5';
  /** What is signed: literal text with the placeholders `{path}`, `{query}` and `{timestamp}`; already checked. */
  readonly template: string;
  readonly encoding: 'hex' | 'base64' | 'base64url';
  /** Unit of the timestamp since the Unix epoch. */
  readonly timestampUnit: 'ms' | 's';
  readonly signatureHeader: string;
  readonly timestampHeader: string;
}

/** What of a request is signed. */
export interface SignedParts {
  /** As sent: starts with `/`, percent-encoded, no host and no query. */
  readonly path: string;
  /** Before percent-encoding, without the leading `?`. */
  readonly query: string;
}

const PLACEHOLDER = /\{(path|query|timestamp)\}/g;

/**
 * Fills in a template. One pass: what stands in a value is never taken for a placeholder.
 *
 * @param timestamp - decimal, in the unit of the scheme
 */
export function stringToSign(template: string, parts: SignedParts, timestamp: string): string {
  const values = new Map([
    ['path', parts.path],
    ['query', parts.query],
    ['timestamp', timestamp],
  ]);
  return template.replace(PLACEHOLDER, (placeholder, name: string) => values.get(name) ?? placeholder);
}

/**
 * The headers that sign a request ("Authentication" of the interface).
 *
 * @param nowMs - wall-clock time in milliseconds since the Unix epoch
 */
export function signRequest(
  scheme: SigningScheme,
  secret: string,
  parts: SignedParts,
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(scheme.timestampUnit === 's' ? nowMs / 1000 : nowMs));
  const signature = createHmac(scheme.algorithm, secret)
    .update(stringToSign(scheme.template, parts, timestamp))
    .digest(scheme.encoding);
  return { [scheme.signatureHeader]: signature, [scheme.timestampHeader]: timestamp };
}
