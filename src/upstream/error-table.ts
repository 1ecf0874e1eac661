import { describeAddressSpace } from '../runtime/web-assembly.ts';
import { ACCEPTED_CODINGS, UNACCEPTED_CODING } from './decoding.ts';
import type { PollErrorReason } from './errors.ts';
import { TASK_LIST_PATH } from './signing.ts';

/** What an operator does about an error; `server` is the base URL of the service. */
type Remedy = string | ((server: URL) => string);

interface ErrorCodes {
  readonly codes: RegExp;
  /** A sentence without a full stop. Default: that of the reason. */
  readonly sentence?: string;
  readonly remedy?: Remedy;
}

interface PollErrorKind {
  /** A sentence without a full stop. */
  readonly sentence: string;
  /** What to check first if neither a code nor a symptom shows the cause. */
  readonly remedy: string;
  /** The codes that have this reason, those that say more than it first. */
  readonly codes: readonly ErrorCodes[];
}

/** Bytes that are not HTTP at all, for example a TLS alert. */
export const NOT_HTTP = 'HPE_INVALID_CONSTANT';
/** Headers or chunks that some clients accept. */
export const BROKEN_HTTP = 'UND_ERR_HTTP_PARSER';
/** A peer closes within a chunked body. */
export const PREMATURE_EOF = 'HPE_INVALID_EOF_STATE';
/** undici reports any error in headers so if they have a Content-Length. */
export const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
/** A compressed body ends early. */
export const UNEXPECTED_END = 'Z_BUF_ERROR';
/** WebAssembly got no address space. The error of V8 has no code. */
export const NO_WASM_MEMORY = 'WASM_MEMORY';
/** Node.js has names for some errors of certificates only. The message has OpenSSL's words. */
export const UNNAMED_CERTIFICATE_ERROR = 'UNSPECIFIED';
/** A listing is another account's. */
export const FOREIGN_LISTING = 'FOREIGN_LISTING';

const showCertificate = ({ hostname, port }: URL): string =>
  `openssl s_client -showcerts -connect ${hostname}:${port || 443}`;

const checkClientCertificate = ({ host }: URL): string =>
  `The server at ${host} rejected the client certificate, or requires one. Check upstream.cert_file and upstream.key_file: whether the certificate is valid, for clients, and of an authority that the server trusts.`;

/**
 * Why polls fail, by the label `reason` and the code of the error: a system's, OpenSSL's, the HTTP client's
 * or our own. Codes that no row has are `connect`.
 */
export const POLL_ERRORS: Readonly<Record<PollErrorReason, PollErrorKind>> = {
  timeout: {
    sentence: 'The service did not respond in time',
    remedy:
      'Check the load of the service and packet loss on the network. If listings are large, raise upstream.timeout.',
    codes: [{ codes: /^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/ }],
  },
  dns: {
    sentence: 'The name of the service could not be resolved',
    remedy: 'Check the host name in upstream.base_url and the DNS servers of this machine.',
    codes: [
      {
        codes: /^(?:EAI_.*|ENOTFOUND|ENODATA)$/,
        remedy: ({ hostname }) =>
          `This machine cannot resolve the name ${hostname}. Check its spelling in upstream.base_url, and the DNS servers of this machine.`,
      },
    ],
  },
  connect: {
    sentence: 'Could not connect to the service',
    remedy:
      'Check the host and port in upstream.base_url, that the service is running, firewalls and proxy settings.',
    codes: [],
  },
  tls: {
    sentence: 'Could not establish a trusted TLS connection to the service',
    remedy:
      'Check upstream.ca_file, the expiry date and host name of the certificate, and whether this port speaks HTTPS.',
    codes: [
      {
        codes: /^ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL$/,
        remedy: ({ host }) =>
          `The server at ${host} does not offer HTTP/1.1, only another protocol such as HTTP/2 (ALPN). Enable HTTP/1.1 there.`,
      },
      {
        codes: /^ERR_SSL_(?:TLSV1_ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/,
        remedy: ({ host }) => `The server at ${host} does not offer TLS 1.2 or later. Enable it there.`,
      },
      // Names of OpenSSL 3.0 (SSLV3_ALERT_…, TLSV1_ALERT_…, TLSV13_ALERT_…) and 3.2 (SSL/TLS_ALERT_…).
      {
        codes: /^ERR_SSL_\S+_ALERT_(?:CERTIFICATE_REQUIRED|NO_CERTIFICATE)$/,
        sentence: 'The service requires a client certificate',
        remedy: checkClientCertificate,
      },
      {
        codes:
          /^ERR_SSL_\S+_ALERT_(?:(?:BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_(?:REVOKED|EXPIRED|UNKNOWN)|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR)$/,
        sentence: 'The service rejected the client certificate, or requires one',
        remedy: checkClientCertificate,
      },
      {
        codes: /^ERR_SSL_\S+_ALERT_(?:HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY)$/,
        remedy: ({ host }) =>
          `The server at ${host} rejected the handshake. If it requires a client certificate, check upstream.cert_file and upstream.key_file; otherwise check its ciphers.`,
      },
      {
        codes: /^ERR_SSL_\S+_(?:UNRECOGNIZED_NAME|ALERT_INTERNAL_ERROR)$/,
        remedy: ({ host }) =>
          `The server at ${host} has no certificate for this name, or failed. Check the host in upstream.base_url, and the log of that server.`,
      },
      {
        codes: /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/,
        remedy: (server) =>
          `The certificate was issued by an untrusted authority. Add the certificate of that authority to the PEM file upstream.ca_file. To see the chain: ${showCertificate(server)}`,
      },
      {
        codes: /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/,
        remedy:
          'The certificate is expired or not yet valid. Renew it, or correct the clock of this machine.',
      },
      {
        codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
        remedy: (server) =>
          `The certificate was not issued for ${server.host}. Use a host name of the certificate in upstream.base_url. To see it: ${showCertificate(server)}`,
      },
      {
        codes: /^INVALID_PURPOSE$/,
        remedy: (server) =>
          `The certificate is not for servers (extended key usage). Replace it. To see it: ${showCertificate(server)}`,
      },
      {
        codes: new RegExp(`^${UNNAMED_CERTIFICATE_ERROR}$`),
        remedy: (server) =>
          `The certificate, or one above it, has the fault that the message names: for example a name that its authority may not certify, an extension that OpenSSL does not know, or a weak key. Replace it. To see the chain: ${showCertificate(server)}`,
      },
      { codes: /^(?:EPROTO|INVALID_CA|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|UND_ERR_PRX_TLS)$/ },
      { codes: /^(?:ERR_SSL|ERR_TLS|ERR_OSSL|CERT|CRL|ERROR_IN_CERT)_/ },
    ],
  },
  reset: {
    sentence: 'The connection to the service was lost',
    remedy: 'If this repeats, check the service and the proxies and load balancers in front of it.',
    codes: [
      {
        codes: /^UND_ERR_SOCKET$/,
        sentence: 'The service closed the connection before the end of the response',
      },
      {
        codes: new RegExp(`^${LENGTH_MISMATCH}$`),
        sentence: 'The body is not as long as Content-Length says',
      },
      { codes: /^(?:ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/ },
      { codes: new RegExp(`^${PREMATURE_EOF}$`) },
    ],
  },
  http_status: {
    sentence: 'The service answered with an HTTP error',
    remedy:
      'From status 500 on, check the service and its load balancer; below, set upstream.base_url to the address of the service, without the path /api/….',
    codes: [],
  },
  too_large: {
    sentence: 'The listing exceeds upstream.max_response_size',
    remedy: 'If listings of this size are expected, raise upstream.max_response_size.',
    codes: [{ codes: /^UND_ERR_HEADERS_OVERFLOW$/, sentence: 'The response headers are too large' }],
  },
  // Bytes that break HTTP, too: usually another program listens there; `reset` would blame the network.
  not_json: {
    sentence: 'The response is not JSON',
    remedy: 'Check which server listens at upstream.base_url: it may be a proxy or a login page.',
    codes: [
      { codes: new RegExp(`^${NOT_HTTP}$`), sentence: 'The response is not HTTP' },
      {
        codes: new RegExp(`^${BROKEN_HTTP}$`),
        sentence: 'The headers or chunks break HTTP',
        remedy:
          'The response breaks HTTP, although curl and browsers may accept it. Report the error to the operator of the service or of the proxy in front of it.',
      },
      // undici 7 accepts statuses below 100 in its parser and fails an assertion after it.
      { codes: /^ERR_ASSERTION$/, sentence: 'The response body could not be decoded' },
      {
        codes: new RegExp(`^${UNACCEPTED_CODING}$`),
        remedy: `The content coding of the response is not one that the exporter accepts. Configure the service, or the proxy that compresses, to send ${ACCEPTED_CODINGS} or no coding, and only one.`,
      },
      { codes: new RegExp(`^${UNEXPECTED_END}$`), sentence: 'The listing is cut off' },
      {
        codes: /^(?:Z|ERR_BROTLI|ERR__ERROR)_/,
        sentence: 'The response body could not be decoded',
        remedy:
          'The body is not compressed as Content-Encoding says. Check what compresses responses in front of the service: one program may have decompressed the body and kept the header.',
      },
    ],
  },
  bad_shape: {
    sentence: 'The response is JSON but not a listing',
    remedy: 'Check that upstream.base_url is the address of the service, and the interface version.',
    codes: [
      {
        codes: new RegExp(`^${FOREIGN_LISTING}$`),
        remedy: `The listing is that of another service code. Most likely a cache in front of the service ignores the query of the address (service_code). Exclude ${TASK_LIST_PATH} from caching.`,
      },
    ],
  },
  api_error: {
    sentence: 'The service rejected the request',
    remedy: 'Check the secret, the service code and the clock of this machine.',
    codes: [],
  },
  resources: {
    sentence: 'The exporter got no file descriptor or no memory from this machine',
    remedy: 'Raise the memory limit.',
    codes: [
      { codes: /^EMFILE$/, remedy: 'Raise the limit of open files of the process (ulimit -n, LimitNOFILE).' },
      { codes: /^ENFILE$/, remedy: 'Raise the limit of open files of this machine (sysctl fs.file-max).' },
      {
        codes: new RegExp(`^${NO_WASM_MEMORY}$`),
        sentence: 'WebAssembly got no address space from this machine',
        remedy: () => describeAddressSpace(),
      },
    ],
  },
  internal: {
    sentence: 'The exporter could not read the response because of a defect',
    remedy: 'Report the log line with the version of the exporter. The next poll starts with a fresh reader.',
    codes: [],
  },
};

/** The row of a code among those of its reason. */
export function findErrorCodes(reason: PollErrorReason, code = ''): ErrorCodes | undefined {
  return POLL_ERRORS[reason].codes.find(({ codes }) => codes.test(code));
}
