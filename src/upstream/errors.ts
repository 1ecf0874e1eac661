/**
 * Why a poll failed: the closed set that is the `reason` label of `xvs_exporter_poll_errors_total`.
 * `timeout` is any deadline (connect, headers, idle, total); `connect` a connection that could not be made;
 * `reset` one that broke; `http_status` anything but 2xx; `not_json` a body that cannot be decoded or is not
 * JSON; `bad_shape` JSON that is no listing; `api_error` a listing whose `ret` is not 0.
 */
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
] as const;

export type PollErrorReason = (typeof POLL_ERROR_REASONS)[number];

/** What is known of an answer that was a failure all the same. */
export interface UpstreamErrorDetails {
  /** HTTP status of the answer. */
  readonly status?: number;
  /** How long the service asked to be left alone, in milliseconds, from `Retry-After`. */
  readonly retryAfterMs?: number;
  /** What the system, TLS or the HTTP client calls it: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  readonly code?: string;
  readonly cause?: unknown;
}

/** A poll that failed. Its message holds no secret, no signature and no text of the service. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly reason: PollErrorReason;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly code: string | undefined;

  constructor(reason: PollErrorReason, message: string, details: UpstreamErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.code = details.code;
  }
}
