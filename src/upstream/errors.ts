/** Why a poll failed: the values of the label `reason`, each with a sentence without a full stop. */
export const POLL_ERROR_SUMMARY = {
  timeout: 'The service did not respond in time',
  dns: 'The name of the service could not be resolved',
  connect: 'Could not connect to the service',
  tls: 'Could not establish a trusted TLS connection to the service',
  reset: 'The connection to the service was lost',
  http_status: 'The service answered with an HTTP error',
  too_large: 'The listing exceeds upstream.max_response_size',
  not_json: 'The response is not JSON',
  bad_shape: 'The response is JSON but not a listing',
  api_error: 'The service rejected the request',
  resources: 'The exporter got no file descriptor or no memory from this machine',
  internal: 'The exporter could not read the response because of a defect',
} as const;

export type PollErrorReason = keyof typeof POLL_ERROR_SUMMARY;

export const POLL_ERROR_REASONS: readonly PollErrorReason[] = Object.keys(POLL_ERROR_SUMMARY).filter(
  (key): key is PollErrorReason => Object.hasOwn(POLL_ERROR_SUMMARY, key),
);

/** What to do about a failure whose cause no symptom shows. */
export const POLL_ERROR_REMEDY: Readonly<Record<PollErrorReason, string>> = {
  timeout:
    'Check the load of the service and packet loss on the network. If listings are large, raise upstream.timeout.',
  dns: 'Check the host name in upstream.base_url and the DNS servers of this machine.',
  connect:
    'Check the host and port in upstream.base_url, that the service is running, firewalls and proxy settings.',
  tls: 'Check upstream.ca_file, the expiry date and host name of the certificate, and whether this port speaks HTTPS.',
  reset: 'If this repeats, check the service and the proxies and load balancers in front of it.',
  http_status:
    'For a status of 500 or above, check the service and its load balancer. For others, set upstream.base_url to the address of the service, without the path /api/….',
  too_large:
    'If listings of this size are expected, raise upstream.max_response_size. If the error names all responses together, spread the service codes over shards.',
  not_json: 'Check which server listens at upstream.base_url: it may be a proxy or a login page.',
  bad_shape: 'Check that upstream.base_url is the address of the service, and the interface version.',
  api_error: 'Check the secret, the service code and the clock of this machine.',
  resources:
    'Raise the limit of open files (ulimit -n, LimitNOFILE) or the memory limit of the exporter. The code in the log says which one: EMFILE and ENFILE are files.',
  internal: 'Report the log line with the version of the exporter. The next poll starts with a fresh reader.',
};

export interface UpstreamErrorDetails {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Code of the system, TLS or HTTP client error: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  readonly code?: string | undefined;
  /** Addresses of the name that were tried; the code is that of the first one. */
  readonly addresses?: number;
  /** Whether the body is the start of a listing. */
  readonly isCutOff?: boolean;
  readonly cause?: unknown;
}

/** A failed poll. The message contains no secret, no signature and no text of the response. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly reason: PollErrorReason;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly code: string | undefined;
  readonly addresses: number | undefined;
  readonly isCutOff: boolean;

  constructor(reason: PollErrorReason, message: string, details: UpstreamErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.code = details.code;
    this.addresses = details.addresses;
    this.isCutOff = details.isCutOff === true;
  }
}
