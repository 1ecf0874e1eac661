import { describeAddressSpace } from '../runtime/web-assembly.ts';
import { ACCEPTED_CODINGS, UNACCEPTED_CODING } from './decoding.ts';
import * as own from './error-codes.ts';
import type { PollErrorReason, UpstreamError } from './errors.ts';
import {
  askForAddress,
  askForSilentAddress,
  askNameServers,
  checkClientCertificate,
  describePeer,
  showCertificate,
  type Peer,
} from './peer.ts';
import { TASK_LIST_PATH } from './signing.ts';

/** What an operator does about an error. */
type Remedy = string | ((peer: Peer) => string);

interface ErrorCodes {
  /** One code, or a pattern of several. */
  readonly codes: string | RegExp;
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

/**
 * Why polls fail, by the label `reason` and the code of the error: a system's, OpenSSL's, the HTTP client's
 * or our own. Codes that no row has are `connect`.
 */
export const POLL_ERRORS: Readonly<Record<PollErrorReason, PollErrorKind>> = {
  timeout: {
    sentence: 'The service did not respond in time',
    remedy:
      'Check the load of the service and packet loss on the network. If listings are large, raise upstream.timeout.',
    codes: [
      {
        codes: own.NO_FREE_CONNECTION,
        sentence: 'No connection to the service was free',
        remedy:
          'Other polls used all connections, as many as upstream.max_connections. Check the load of the service, or raise that setting.',
      },
      {
        codes: own.NO_ADDRESS,
        sentence: 'The name of the service was not resolved',
        remedy: askNameServers,
      },
      {
        codes: new RegExp(`^(?:ETIMEDOUT|${own.CONNECT_TIMEOUT}|${own.NO_CONNECTION})$`),
        sentence: 'The service accepted no connection',
        remedy: askForSilentAddress,
      },
      {
        codes: own.NO_HANDSHAKE,
        sentence: 'The service did not complete the TLS handshake',
        remedy: ({ url: { host } }) =>
          `The server at ${host} accepted the connection, but not TLS. Check that this port speaks HTTPS, its load, and packet loss on the way (MTU).`,
      },
      {
        codes: own.NO_TUNNEL,
        sentence: 'No tunnel was opened',
        remedy: ({ url, service }) =>
          `Check the proxy ${url.host}, and whether it can connect to ${service.host}.`,
      },
      {
        codes: new RegExp(`^(?:UND_ERR_HEADERS_TIMEOUT|${own.NO_RESPONSE})$`),
        sentence: 'The service did not respond',
        remedy: ({ role }) =>
          `The ${role} accepted the connection but did not respond in time. Check its load, or raise upstream.timeout.`,
      },
    ],
  },
  dns: {
    sentence: 'The name of the service could not be resolved',
    remedy: 'Check the host name in upstream.base_url and the DNS servers of this machine.',
    codes: [
      { codes: /^EAI_AGAIN$/, remedy: askNameServers },
      {
        codes: /^(?:EAI_.*|ENOTFOUND|ENODATA)$/,
        remedy: ({ url: { hostname }, setting }) =>
          `This machine cannot resolve the name ${hostname}. Check its spelling in ${setting}, and the DNS servers of this machine.`,
      },
    ],
  },
  connect: {
    sentence: 'Could not connect to the service',
    remedy:
      'Check the host and port in upstream.base_url, that the service is running, firewalls and proxy settings.',
    codes: [
      {
        codes: /^ECONNREFUSED$/,
        remedy: askForAddress('refused the connection', 'check that the server runs'),
      },
      {
        codes: /^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/,
        remedy: askForAddress('cannot be reached', 'check the routes and firewalls on the way'),
      },
      {
        codes: /^(?:EACCES|EPERM)$/,
        remedy: ({ addresses }) =>
          `This machine forbids connections to ${new Intl.ListFormat('en').format(addresses)}. Check its firewall, SELinux, and IPAddressDeny of the unit.`,
      },
      {
        codes: /^EADDRNOTAVAIL$/,
        remedy:
          'This machine has no free local port or no address for the connection. Check its network interfaces, and how many connections it has (ss -s).',
      },
      {
        codes: new RegExp(`^${own.PROXY_STATUS}407$`),
        remedy:
          'The proxy requires a user name and a password. Set them in the environment: http_proxy or https_proxy=http://user:password@host:port. The exporter knows Basic authentication alone.',
      },
      {
        codes: new RegExp(`^${own.PROXY_STATUS}5`),
        remedy: ({ service: { host } }) =>
          `The proxy could not connect to ${host}. Check upstream.base_url, and the network of the proxy.`,
      },
      {
        codes: new RegExp(`^${own.PROXY_STATUS}`),
        remedy: ({ service: { host } }) => `The proxy refuses connections to ${host}. Permit them there.`,
      },
    ],
  },
  tls: {
    sentence: 'Could not establish a trusted TLS connection to the service',
    remedy:
      'Check upstream.ca_file, the expiry date and host name of the certificate, and whether this port speaks HTTPS.',
    codes: [
      {
        codes: /^ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL$/,
        remedy: ({ url: { host } }) =>
          `The server at ${host} does not offer HTTP/1.1, only another protocol such as HTTP/2 (ALPN). Enable HTTP/1.1 there.`,
      },
      {
        codes: /^ERR_SSL_(?:TLSV1_ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/,
        remedy: ({ url: { host } }) =>
          `The server at ${host} does not offer TLS 1.2 or later. Enable it there.`,
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
        remedy: ({ url: { host } }) =>
          `The server at ${host} rejected the handshake. If it requires a client certificate, check upstream.cert_file and upstream.key_file; otherwise check its ciphers.`,
      },
      {
        codes: /^ERR_SSL_\S+_(?:UNRECOGNIZED_NAME|ALERT_INTERNAL_ERROR)$/,
        remedy: ({ url: { host } }) =>
          `The server at ${host} has no certificate for this name, or failed. Check the host in upstream.base_url, and the log of that server.`,
      },
      {
        codes: /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/,
        remedy: (peer) =>
          `The certificate was issued by an untrusted authority. Add the certificate of that authority to ${peer.role === 'proxy' ? 'a PEM file, and name it in the environment: NODE_EXTRA_CA_CERTS (upstream.ca_file is for the service alone)' : 'the PEM file upstream.ca_file'}. To see the chain: ${showCertificate(peer)}`,
      },
      {
        codes: /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/,
        remedy:
          'The certificate is expired or not yet valid. Renew it, or correct the clock of this machine.',
      },
      {
        codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
        remedy: (peer) =>
          `The certificate was not issued for ${peer.url.host}. Use a host name of the certificate in ${peer.setting}. To see it: ${showCertificate(peer)}`,
      },
      {
        codes: /^INVALID_PURPOSE$/,
        remedy: (peer) =>
          `The certificate is not for servers (extended key usage). Replace it. To see it: ${showCertificate(peer)}`,
      },
      {
        codes: own.UNNAMED_CERTIFICATE_ERROR,
        remedy: (peer) =>
          `The certificate, or one above it, has the fault that the message names: for example a name that its authority may not certify, an extension that OpenSSL does not know, or a weak key. Replace it. To see the chain: ${showCertificate(peer)}`,
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
        codes: own.LENGTH_MISMATCH,
        sentence: 'The body is not as long as Content-Length says',
      },
      { codes: /^(?:ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/ },
      { codes: own.PREMATURE_EOF },
    ],
  },
  http_status: {
    sentence: 'The service answered with an HTTP error',
    remedy:
      'From status 500 on, check the service and its load balancer; below, set upstream.base_url to the address of the service, without the path /api/….',
    codes: [
      {
        codes: own.UNASKED_STATUS,
        remedy:
          'The service, or a proxy in front of it, sends a status (1xx) for which the request did not ask. Report it to its operator.',
      },
    ],
  },
  too_large: {
    sentence: 'The listing exceeds upstream.max_response_size',
    remedy: 'If listings of this size are expected, raise upstream.max_response_size.',
    codes: [
      {
        codes: /^UND_ERR_HEADERS_OVERFLOW$/,
        sentence: 'The response headers are too large',
        remedy:
          'The headers of the response exceed 16 KiB, whatever upstream.max_response_size is. Check which program in front of the service adds them.',
      },
    ],
  },
  // Bytes that break HTTP, too: usually another program listens there; `reset` would blame the network.
  not_json: {
    sentence: 'The response is not JSON',
    remedy: 'Check which server listens at upstream.base_url: it may be a proxy or a login page.',
    codes: [
      { codes: own.NOT_HTTP, sentence: 'The response is not HTTP' },
      {
        codes: own.BROKEN_HTTP,
        sentence: 'The headers or chunks break HTTP',
        remedy:
          'The response breaks HTTP, although curl and browsers may accept it. Report the error to the operator of the service or of the proxy in front of it.',
      },
      // undici 7 accepts statuses below 100 in its parser and fails an assertion after it.
      { codes: /^ERR_ASSERTION$/, sentence: 'The response body could not be decoded' },
      {
        codes: UNACCEPTED_CODING,
        remedy: `The content coding of the response is not one that the exporter accepts. Configure the service, or the proxy that compresses, to send ${ACCEPTED_CODINGS} or no coding, and only one.`,
      },
      { codes: own.UNEXPECTED_END, sentence: 'The listing is cut off' },
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
        codes: own.FOREIGN_LISTING,
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
        codes: own.NO_WASM_MEMORY,
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
  return POLL_ERRORS[reason].codes.find(({ codes }) =>
    typeof codes === 'string' ? codes === code : codes.test(code),
  );
}

/** The remedy that the code of an error shows. `baseUrl` is that of the service. */
export function findCodeRemedy(error: UpstreamError, baseUrl: string): string | undefined {
  const remedy = findErrorCodes(error.reason, error.code)?.remedy;
  return typeof remedy === 'function' ? remedy(describePeer(error, baseUrl)) : remedy;
}
