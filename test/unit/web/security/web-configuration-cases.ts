import { SERVER_CERTIFICATE } from '../secured-server.ts';

/** A bcrypt hash, of cost 10. */
export const HASH = '$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';

/** A web configuration file in the folder of the test certificates, and its expected outcome. */
export interface WebConfigurationCase {
  readonly name: string;
  readonly yml: string;
  /** The error message without the path; `undefined` if the file is accepted. */
  readonly rejection?: string;
  /** How promtool differs. */
  readonly promtool?: 'accepts: the exporter is stricter' | 'rejects: promtool is older';
}

const tls = (more: string): string => `tls_server_config: { ${SERVER_CERTIFICATE}, ${more} }`;
const OLDER = { promtool: 'rejects: promtool is older' } as const;
const STRICTER = { promtool: 'accepts: the exporter is stricter' } as const;
const KNOWN_SUITES =
  'TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256';
const AUTH_TYPES =
  'NoClientCert, RequestClientCert, RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert';
const BCRYPT =
  "expected a bcrypt hash with a cost from 04 to 16, found another string; run `htpasswd -nBC 10 ''` to create one";

/** Valid files. */
export const ACCEPTED: readonly WebConfigurationCase[] = [
  { name: 'an empty file', yml: '' },
  { name: 'only a comment', yml: '# nothing yet\n' },
  {
    name: 'empty sections',
    yml: 'tls_server_config:\nhttp_server_config:\nbasic_auth_users:\n',
  },
  { name: 'a certificate', yml: `tls_server_config: { ${SERVER_CERTIFICATE} }` },
  { name: 'empty paths, without TLS', yml: 'tls_server_config: { cert_file: "", key_file: "" }' },
  {
    name: 'TLS settings without a certificate, without TLS',
    yml: 'tls_server_config: { min_version: TLS13 }',
  },
  ...AUTH_TYPES.split(', ').map((type) => ({ name: type, yml: tls(`client_auth_type: ${type}`) })),
  { name: 'a client CA', yml: tls('client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem') },
  { name: 'versions', yml: tls('min_version: TLS12, max_version: TLS13') },
  { name: 'a version without a value', yml: tls('min_version: ') },
  { name: 'every cipher suite', yml: tls(`cipher_suites: [${KNOWN_SUITES}]`) },
  { name: 'an empty list of cipher suites', yml: tls('cipher_suites: []') },
  { name: 'every curve', yml: tls('curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]') },
  { name: 'the cipher order of the client', yml: tls('prefer_server_cipher_suites: false') },
  { name: 'users', yml: `basic_auth_users: { a: ${HASH}, 007: ${HASH}, yes: ${HASH} }` },
  { name: 'the highest bcrypt cost', yml: `basic_auth_users: { a: ${HASH.replace('$10$', '$16$')} }` },
  { name: 'an empty user name', yml: `basic_auth_users: { "": ${HASH} }` },
  { name: 'HTTP/2', yml: 'http_server_config: { http2: true }' },
  { name: 'no HTTP/2 in YAML 1.1', yml: 'http_server_config: { http2: No }' },
  {
    name: 'every header',
    yml: 'http_server_config: { headers: { Content-Security-Policy: x, X-Frame-Options: sameorigin, X-Content-Type-Options: nosniff, X-XSS-Protection: "1", Strict-Transport-Security: max-age=1 } }',
  },
  { name: 'an empty header', yml: 'http_server_config: { headers: { Content-Security-Policy: "" } }' },
  { name: 'JSON', yml: `{"basic_auth_users": {"a": "${HASH}"}}` },
  {
    ...OLDER,
    name: 'client names',
    yml: tls('client_auth_type: RequireAnyClientCert, client_allowed_sans: [a]'),
  },
  { ...OLDER, name: 'a rate limit', yml: 'rate_limit: { interval: 1.5s, burst: 20 }' },
  {
    ...OLDER,
    name: 'a rate limit with a compound duration',
    yml: 'rate_limit: { interval: 1m30s500ms, burst: 1 }',
  },
  { ...OLDER, name: 'a rate limit of 0', yml: 'rate_limit: { interval: 0 }' },
];

/** Invalid files with their messages. */
export const REJECTED: readonly WebConfigurationCase[] = [
  { name: 'a string', yml: 'junk', rejection: ':1:1: expected a mapping, found a string' },
  { name: 'a list', yml: '- a', rejection: ':1:1: expected a mapping, found a list' },
  {
    name: 'an unknown section',
    yml: 'tls_server_conf: {}',
    rejection: ':1:1: expected a known key, found "tls_server_conf"; did you mean tls_server_config?',
  },
  {
    name: 'an unknown key',
    yml: tls('min_versoin: TLS13'),
    rejection:
      ':1:67 tls_server_config: expected a known key, found "min_versoin"; did you mean min_version?',
  },
  {
    name: 'a hash as a key',
    yml: `${HASH}: x`,
    rejection: ':1:1: expected a known key, found an unknown one (not shown)',
  },
  {
    name: 'a section twice',
    yml: 'basic_auth_users: {}\nbasic_auth_users: {}',
    rejection: ':2:1: expected valid YAML, found a duplicate key',
  },
  {
    name: 'a certificate without a key',
    yml: 'tls_server_config:\n  cert_file: server.pem',
    rejection: ':2:3 tls_server_config: expected key_file (or key), found neither',
  },
  {
    name: 'a key without a certificate',
    yml: 'tls_server_config: { key_file: server.key }',
    rejection: ':1:20 tls_server_config: expected cert_file (or cert), found neither',
  },
  {
    name: 'client authentication without a certificate',
    yml: 'tls_server_config: { client_auth_type: NoClientCert }',
    rejection: ':1:20 tls_server_config: expected cert_file (or cert), found neither',
  },
  {
    name: 'an empty certificate and an empty key, with client authentication',
    yml: 'tls_server_config: { cert_file: "", key_file: "", client_auth_type: RequireAnyClientCert }',
    rejection: ':1:20 tls_server_config: expected cert_file (or cert), found neither',
  },
  {
    ...OLDER,
    name: 'an inline client CA without a certificate',
    yml: tls('client_auth_type: RequireAndVerifyClientCert, client_ca: none'),
    rejection:
      ':1:124 tls_server_config.client_ca: expected a PEM file with a CERTIFICATE, found "(inline)", which contains none',
  },
  {
    name: 'a missing file',
    yml: 'tls_server_config: { cert_file: none.pem, key_file: server.key }',
    rejection:
      ':1:33 tls_server_config.cert_file: expected a readable file, found "FOLDER/none.pem", which does not exist',
  },
  {
    name: 'a key in place of a certificate',
    yml: 'tls_server_config: { cert_file: server.key, key_file: server.key }',
    rejection:
      ':1:33 tls_server_config.cert_file: expected a PEM file with a CERTIFICATE, found "server.key", which contains none',
  },
  {
    name: 'the key of another certificate',
    yml: 'tls_server_config: { cert_file: server.pem, key_file: client.key }',
    rejection:
      ':1:55 tls_server_config.key_file: expected the unencrypted key of the certificate, found the key of a different certificate',
  },
  {
    name: 'an unknown client authentication',
    yml: tls('client_auth_type: requireanyclientcert'),
    rejection: `:1:85 tls_server_config.client_auth_type: expected one of ${AUTH_TYPES}, found "requireanyclientcert"`,
  },
  {
    name: 'a client CA that is not used',
    yml: tls('client_ca_file: ca.pem'),
    rejection:
      ':1:20 tls_server_config: expected a client_auth_type for the client CA, found one that does not request a certificate',
  },
  {
    name: 'a missing client CA',
    yml: tls('client_ca_file: none.pem, client_auth_type: RequireAndVerifyClientCert'),
    rejection:
      ':1:83 tls_server_config.client_ca_file: expected a readable file, found "FOLDER/none.pem", which does not exist',
  },
  {
    ...STRICTER,
    name: 'a client CA without a certificate, which would reject every client',
    yml: tls('client_ca_file: server.key, client_auth_type: RequireAndVerifyClientCert'),
    rejection:
      ':1:83 tls_server_config.client_ca_file: expected a PEM file with a CERTIFICATE, found "server.key", which contains none',
  },
  {
    name: 'client names without a required certificate',
    yml: tls('client_auth_type: VerifyClientCertIfGiven, client_allowed_sans: [a]'),
    rejection:
      ':1:20 tls_server_config: expected RequireAnyClientCert or RequireAndVerifyClientCert for client_allowed_sans, found a client_auth_type that does not require a certificate',
  },
  {
    name: 'an unknown version',
    yml: tls('min_version: TLS111'),
    rejection: ':1:80 tls_server_config.min_version: expected TLS12 or TLS13, found "TLS111"',
  },
  {
    ...STRICTER,
    name: 'an insecure version',
    yml: tls('min_version: TLS10'),
    rejection:
      ':1:80 tls_server_config.min_version: expected TLS12 or TLS13, found "TLS10", which is insecure (RFC 8996)',
  },
  {
    ...STRICTER,
    name: 'an empty range of versions',
    yml: tls('min_version: TLS13, max_version: TLS12'),
    rejection:
      ':1:80 tls_server_config.min_version: expected a min_version up to max_version, found a later one',
  },
  {
    name: 'an unknown cipher suite',
    yml: tls('cipher_suites: [TLS_RSA_WITH_ROT13]'),
    rejection: `:1:83 tls_server_config.cipher_suites: expected one of ${KNOWN_SUITES}, found "TLS_RSA_WITH_ROT13"`,
  },
  {
    ...STRICTER,
    name: 'a cipher suite without forward secrecy',
    yml: tls('cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA]'),
    rejection: `:1:83 tls_server_config.cipher_suites: expected one of ${KNOWN_SUITES}, found "TLS_RSA_WITH_AES_128_CBC_SHA"`,
  },
  {
    name: 'curves that are not a list',
    yml: tls('curve_preferences: CurveP256'),
    rejection: ':1:86 tls_server_config.curve_preferences: expected a list of names, found "CurveP256"',
  },
  {
    name: 'an unknown curve',
    yml: tls('curve_preferences: [CurveP257]'),
    rejection:
      ':1:87 tls_server_config.curve_preferences: expected one of CurveP256, CurveP384, CurveP521, X25519, found "CurveP257"',
  },
  {
    name: 'an unhashed password',
    yml: 'basic_auth_users: { a: hunter2 }',
    rejection: `:1:24 basic_auth_users: ${BCRYPT}`,
  },
  {
    name: 'a truncated hash',
    yml: `basic_auth_users: { a: ${HASH.slice(0, 40)} }`,
    rejection: `:1:24 basic_auth_users: ${BCRYPT}`,
  },
  {
    name: 'a user without a hash',
    yml: 'basic_auth_users:\n  a:',
    rejection: `:2:3 basic_auth_users: ${BCRYPT.replace('another string', 'no value')}`,
  },
  {
    name: 'a hash with too low a cost',
    yml: `basic_auth_users: { a: ${HASH.replace('$10$', '$03$')} }`,
    rejection: `:1:24 basic_auth_users: ${BCRYPT.replace('another string', 'cost 03')}`,
  },
  {
    ...STRICTER,
    name: 'a hash with too high a cost',
    yml: `basic_auth_users: { a: ${HASH.replace('$10$', '$17$')} }`,
    rejection: `:1:24 basic_auth_users: ${BCRYPT.replace('another string', 'cost 17')}`,
  },
  {
    ...STRICTER,
    name: 'a hash with an obsolete prefix',
    yml: `basic_auth_users: { a: ${HASH.replace('2y', '2x')} }`,
    rejection: `:1:24 basic_auth_users: ${BCRYPT}`,
  },
  {
    name: 'a list of users',
    yml: 'basic_auth_users: [a]',
    rejection: ':1:19 basic_auth_users: expected a mapping, found a list',
  },
  {
    name: 'an invalid boolean',
    yml: 'http_server_config: { http2: maybe }',
    rejection: ':1:30 http_server_config.http2: expected true or false, found "maybe"',
  },
  {
    name: 'an unsupported header',
    yml: 'http_server_config: { headers: { Server: x } }',
    rejection: ':1:34 http_server_config.headers: expected a known key, found an unknown one (not shown)',
  },
  {
    name: 'an unsupported value of a header',
    yml: 'http_server_config: { headers: { X-Frame-Options: DENY } }',
    rejection:
      ':1:51 http_server_config.headers.X-Frame-Options: expected one of deny, sameorigin, found "DENY"',
  },
  {
    ...STRICTER,
    name: 'a header with a line break',
    yml: 'http_server_config: { headers: { X-XSS-Protection: "a\\nb" } }',
    rejection:
      ':1:52 http_server_config.headers.X-XSS-Protection: expected a header value, found a string with characters that headers must not contain',
  },
  {
    name: 'a rate limit without a burst',
    yml: 'rate_limit: { interval: 1s }',
    rejection:
      ':1:13 rate_limit: expected a burst of at least 1, because 0 rejects every request, found none',
  },
  {
    name: 'a duration without a unit',
    yml: 'rate_limit: { interval: 5, burst: 1 }',
    rejection: ':1:25 rate_limit.interval: expected a duration such as 500ms or 1s, found "5"',
  },
  {
    name: 'a burst that is not a number',
    yml: 'rate_limit: { interval: 5s, burst: some }',
    rejection: ':1:36 rate_limit.burst: expected a whole number, found "some"',
  },
  {
    name: 'a PEM text instead of a path',
    yml: 'tls_server_config: { cert_file: server.pem, key_file: "-----BEGIN PRIVATE KEY-----" }',
    rejection:
      ':1:55 tls_server_config.key_file: expected the path of a file, found a string that is not a path',
  },
];
