interface PollErrorKind {
  /** A sentence without a full stop. */
  readonly meaning: string;
  /** What to check first if no symptom shows the cause. */
  readonly check: string;
}

/** Why polls fail: the values of the label `reason`. */
const KINDS = {
  timeout: {
    meaning: 'The service did not respond in time',
    check:
      'Check the load of the service and packet loss on the network. If listings are large, raise upstream.timeout.',
  },
  dns: {
    meaning: 'The name of the service could not be resolved',
    check: 'Check the host name in upstream.base_url and the DNS servers of this machine.',
  },
  connect: {
    meaning: 'Could not connect to the service',
    check:
      'Check the host and port in upstream.base_url, that the service is running, firewalls and proxy settings.',
  },
  tls: {
    meaning: 'Could not establish a trusted TLS connection to the service',
    check:
      'Check upstream.ca_file, the expiry date and host name of the certificate, and whether this port speaks HTTPS.',
  },
  reset: {
    meaning: 'The connection to the service was lost',
    check: 'If this repeats, check the service and the proxies and load balancers in front of it.',
  },
  http_status: {
    meaning: 'The service answered with an HTTP error',
    check:
      'From status 500 on, check the service and its load balancer; below, set upstream.base_url to the address of the service, without the path /api/….',
  },
  too_large: {
    meaning: 'The listing exceeds upstream.max_response_size',
    check: 'If listings of this size are expected, raise upstream.max_response_size.',
  },
  not_json: {
    meaning: 'The response is not JSON',
    check: 'Check which server listens at upstream.base_url: it may be a proxy or a login page.',
  },
  bad_shape: {
    meaning: 'The response is JSON but not a listing',
    check: 'Check that upstream.base_url is the address of the service, and the interface version.',
  },
  api_error: {
    meaning: 'The service rejected the request',
    check: 'Check the secret, the service code and the clock of this machine.',
  },
  resources: {
    meaning: 'The exporter got no file descriptor or no memory from this machine',
    check:
      'Raise the limit of open files (ulimit -n, LimitNOFILE) for EMFILE or ENFILE in the log, else the memory limit.',
  },
  internal: {
    meaning: 'The exporter could not read the response because of a defect',
    check: 'Report the log line with the version of the exporter. The next poll starts with a fresh reader.',
  },
} as const satisfies Record<string, PollErrorKind>;

export type PollErrorReason = keyof typeof KINDS;

export const POLL_ERRORS: Readonly<Record<PollErrorReason, PollErrorKind>> = KINDS;

export const POLL_ERROR_REASONS: readonly PollErrorReason[] = Object.keys(KINDS).filter(
  (key): key is PollErrorReason => Object.hasOwn(KINDS, key),
);

/** The code of a response that belongs to a failure: its `ret` if the service rejected the request. */
export function getCodeKind(reason: PollErrorReason): 'ret' | 'status' {
  return reason === 'api_error' ? 'ret' : 'status';
}

export interface UpstreamErrorDetails {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Code of the system, TLS or HTTP client error: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  readonly code?: string | undefined;
  /** Addresses of the name that were tried; the code is that of the first one. */
  readonly addresses?: number;
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
  readonly addresses: number | undefined;
  readonly isCutOff: boolean;
  readonly invalidByte: number | undefined;

  constructor(reason: PollErrorReason, message: string, details: UpstreamErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.code = details.code;
    this.addresses = details.addresses;
    this.isCutOff = details.isCutOff === true;
    this.invalidByte = details.invalidByte;
  }
}
