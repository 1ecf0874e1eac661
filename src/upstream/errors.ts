/** Why polls fail: the values of the label `reason`. The table of errors has a row for each. */
export const POLL_ERROR_REASONS = [
  'timeout',
  'dns',
  'connect',
  'tls',
  'reset',
  'http_status',
  'too_large',
  'not_json',
  'bad_shape',
  'api_error',
  'resources',
  'internal',
] as const;

export type PollErrorReason = (typeof POLL_ERROR_REASONS)[number];

/** The code of a response that belongs to a failure: its `ret` if the service rejected the request. */
export function getCodeKind(reason: PollErrorReason): 'ret' | 'status' {
  return reason === 'api_error' ? 'ret' : 'status';
}

/** An address that was tried, if it is known, and the code of what came of it. */
export interface Attempt {
  /** With its port. */
  readonly address: string | undefined;
  readonly code: string | undefined;
}

export interface UpstreamErrorDetails {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Code of the system, TLS or HTTP client error: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  readonly code?: string | undefined;
  /** Addresses that were tried; the code of the error is that of the first one. */
  readonly attempts?: readonly Attempt[];
  /** URL of the proxy, without credentials, if the error is one of it or of the connection to it. */
  readonly proxy?: string | undefined;
  /** Host and port of the proxy that the request went through. */
  readonly viaProxy?: string | undefined;
  /** Whether the body is the start of a listing. */
  readonly isCutOff?: boolean;
  /** Offset of the first byte that is not JSON. */
  readonly invalidByte?: number | undefined;
  readonly cause?: unknown;
}

/** A failed poll. The message contains no secret, no signature and no text of the response. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly reason: PollErrorReason;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly code: string | undefined;
  readonly attempts: readonly Attempt[];
  readonly proxy: string | undefined;
  readonly viaProxy: string | undefined;
  readonly isCutOff: boolean;
  readonly invalidByte: number | undefined;

  constructor(reason: PollErrorReason, message: string, details: UpstreamErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.code = details.code;
    this.attempts = details.attempts ?? [];
    this.proxy = details.proxy;
    this.viaProxy = details.viaProxy;
    this.isCutOff = details.isCutOff === true;
    this.invalidByte = details.invalidByte;
  }
}
