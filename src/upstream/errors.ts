/**
 * Why a poll failed: the closed set of the `reason` label of `xvs_exporter_poll_errors_total`.
 *
 * `timeout`: any timeout (connect, headers, idle, total); `connect`: no connection could be established; `reset`: the
 * connection was lost; `http_status`: a status other than 2xx, or 206; `not_json`: a body that cannot be decoded or is not JSON;
 * `bad_shape`: JSON that is not a listing; `api_error`: a listing whose `ret` is not 0; `resources`: this machine gave the exporter
 * no file descriptor or no memory; `internal`: a defect of the exporter.
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
  'resources',
  'internal',
] as const;

export type PollErrorReason = (typeof POLL_ERROR_REASONS)[number];

/** Each reason as a sentence without a full stop, for messages and pages. */
export const POLL_ERROR_SUMMARY: Readonly<Record<PollErrorReason, string>> = {
  timeout: 'The service did not respond in time',
  dns: 'The name of the service could not be resolved',
  connect: 'Could not connect to the service',
  tls: 'Could not establish a trusted TLS connection to the service',
  reset: 'The connection to the service was lost',
  http_status: 'The service answered with an HTTP error',
  too_large:
    'The listing exceeds upstream.max_response_size, or is the largest when all responses together exceed 2 GiB',
  not_json: 'The response is not JSON',
  bad_shape: 'The response is JSON but not a listing',
  api_error: 'The service rejected the request',
  resources: 'The exporter got no file descriptor or no memory from this machine',
  internal: 'The exporter could not read the response because of a defect',
};

export interface UpstreamErrorDetails {
  /** HTTP status of the response. */
  readonly status?: number;
  /** The delay that the service requested with `Retry-After`. */
  readonly retryAfterMs?: number;
  /** Code of the system, TLS or HTTP client error: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  readonly code?: string;
  readonly cause?: unknown;
}

/** A failed poll. The message contains no secret, no signature and no text of the response. */
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
