import { SERVER } from '../guarded.ts';

/** A bcrypt hash, of cost 10. */
export const HASH = '$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';

/** A web configuration file next to the tests' certificates, and what is made of it. */
export interface Case {
  readonly name: string;
  readonly yml: string;
  /** The message of a refusal, after the path; undefined where the file is accepted. */
  readonly refusal?: string;
  /** What promtool says instead, and why we do not. */
  readonly promtool?: 'accepts: we are stricter' | 'refuses: it is older';
}

const tls = (more: string): string => `tls_server_config: { ${SERVER}, ${more} }`;
const OLDER = { promtool: 'refuses: it is older' } as const;
const STRICTER = { promtool: 'accepts: we are stricter' } as const;
const KNOWN_SUITES =
  'TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256';
const AUTH_TYPES =
  'NoClientCert, RequestClientCert, RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert';
const BCRYPT =
  "expected a bcrypt hash with a cost from 04 to 31, found a text that is none; `htpasswd -nBC 10 ''` makes one";

/** Files that are good. */
export const ACCEPTED: readonly Case[] = [
  { name: 'nothing', yml: '' },
  { name: 'a comment alone', yml: '# nothing yet\n' },
  {
    name: 'empty sections',
    yml: 'tls_server_config:\nhttp_server_config:\nbasic_auth_users:\n',
  },
  { name: 'a certificate', yml: `tls_server_config: { ${SERVER} }` },
  { name: 'empty paths, which is no TLS', yml: 'tls_server_config: { cert_file: "", key_file: "" }' },
  {
    name: 'settings of TLS without a certificate, which is no TLS',
    yml: 'tls_server_config: { min_version: TLS13 }',
  },
  ...AUTH_TYPES.split(', ').map((type) => ({ name: type, yml: tls(`client_auth_type: ${type}`) })),
  { name: 'a client CA', yml: tls('client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem') },
  { name: 'versions', yml: tls('min_version: TLS12, max_version: TLS13') },
  { name: 'a version without a value', yml: tls('min_version: ') },
  { name: 'every suite', yml: tls(`cipher_suites: [${KNOWN_SUITES}]`) },
  { name: 'no suite', yml: tls('cipher_suites: []') },
  { name: 'every curve', yml: tls('curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]') },
  { name: 'the order of the client', yml: tls('prefer_server_cipher_suites: false') },
  { name: 'users', yml: `basic_auth_users: { a: ${HASH}, 007: ${HASH}, yes: ${HASH} }` },
  { name: 'a user without a name', yml: `basic_auth_users: { "": ${HASH} }` },
  { name: 'HTTP/2', yml: 'http_server_config: { http2: true }' },
  { name: 'no HTTP/2, as Go reads it', yml: 'http_server_config: { http2: No }' },
  {
    name: 'every header',
    yml: 'http_server_config: { headers: { Content-Security-Policy: x, X-Frame-Options: sameorigin, X-Content-Type-Options: nosniff, X-XSS-Protection: "1", Strict-Transport-Security: max-age=1 } }',
  },
  { name: 'a blank header', yml: 'http_server_config: { headers: { Content-Security-Policy: "" } }' },
  { name: 'JSON', yml: `{"basic_auth_users": {"a": "${HASH}"}}` },
  {
    ...OLDER,
    name: 'names of clients',
    yml: tls('client_auth_type: RequireAnyClientCert, client_allowed_sans: [a]'),
  },
  { ...OLDER, name: 'a rate', yml: 'rate_limit: { interval: 1.5s, burst: 20 }' },
  { ...OLDER, name: 'a rate in parts', yml: 'rate_limit: { interval: 1m30s500ms, burst: 1 }' },
  { ...OLDER, name: 'no rate', yml: 'rate_limit: { interval: 0 }' },
];

/** Files that are not, with what is said of them. */
export const REFUSED: readonly Case[] = [
  { name: 'a text', yml: 'junk', refusal: ':1:1: expected a mapping, found a text' },
  { name: 'a list', yml: '- a', refusal: ':1:1: expected a mapping, found a list' },
  {
    name: 'an unknown section',
    yml: 'tls_server_conf: {}',
    refusal:
      ':1:1 tls_server_conf: expected a known key, found "tls_server_conf"; did you mean tls_server_config?',
  },
  {
    name: 'an unknown key',
    yml: tls('min_versoin: TLS13'),
    refusal:
      ':1:67 tls_server_config.min_versoin: expected a known key, found "min_versoin"; did you mean min_version?',
  },
  {
    name: 'a hash as a key',
    yml: `${HASH}: x`,
    refusal: ':1:1: expected a known key, found a text that is not shown',
  },
  {
    name: 'a section twice',
    yml: 'basic_auth_users: {}\nbasic_auth_users: {}',
    refusal: ':2:1: expected valid YAML, found a key for the second time',
  },
  {
    name: 'a certificate without a key',
    yml: 'tls_server_config:\n  cert_file: server.pem',
    refusal: ':2:3 tls_server_config: expected key_file (or key), found none',
  },
  {
    name: 'a key without a certificate',
    yml: 'tls_server_config: { key_file: server.key }',
    refusal: ':1:20 tls_server_config: expected cert_file (or cert), found none',
  },
  {
    name: 'client authentication without a certificate',
    yml: 'tls_server_config: { client_auth_type: NoClientCert }',
    refusal: ':1:20 tls_server_config: expected cert_file (or cert), found none',
  },
  {
    name: 'a file that is not there',
    yml: 'tls_server_config: { cert_file: none.pem, key_file: server.key }',
    refusal:
      ':1:33 tls_server_config.cert_file: expected a readable file, found "FOLDER/none.pem", which does not exist',
  },
  {
    name: 'a key in place of a certificate',
    yml: 'tls_server_config: { cert_file: server.key, key_file: server.key }',
    refusal:
      ':1:33 tls_server_config.cert_file: expected a PEM file with a CERTIFICATE, found "server.key", which has none',
  },
  {
    name: 'the key of another certificate',
    yml: 'tls_server_config: { cert_file: server.pem, key_file: client.key }',
    refusal:
      ':1:55 tls_server_config.key_file: expected the key of the certificate, not encrypted, found that of another one',
  },
  {
    name: 'an unknown client authentication',
    yml: tls('client_auth_type: requireanyclientcert'),
    refusal: `:1:85 tls_server_config.client_auth_type: expected one of ${AUTH_TYPES}, found "requireanyclientcert"`,
  },
  {
    name: 'a client CA that is not asked for',
    yml: tls('client_ca_file: ca.pem'),
    refusal:
      ':1:20 tls_server_config: expected a client_auth_type beside the client CA, found none that asks for a certificate',
  },
  {
    name: 'a client CA that is not there',
    yml: tls('client_ca_file: none.pem, client_auth_type: RequireAndVerifyClientCert'),
    refusal:
      ':1:83 tls_server_config.client_ca_file: expected a readable file, found "FOLDER/none.pem", which does not exist',
  },
  {
    ...STRICTER,
    name: 'a client CA that is none: no one would get in',
    yml: tls('client_ca_file: server.key, client_auth_type: RequireAndVerifyClientCert'),
    refusal:
      ':1:83 tls_server_config.client_ca_file: expected a PEM file with a CERTIFICATE, found "server.key", which has none',
  },
  {
    name: 'names of clients that need no certificate',
    yml: tls('client_auth_type: VerifyClientCertIfGiven, client_allowed_sans: [a]'),
    refusal:
      ':1:20 tls_server_config: expected RequireAnyClientCert or RequireAndVerifyClientCert beside client_allowed_sans, found a client_auth_type that requires no certificate',
  },
  {
    name: 'an unknown version',
    yml: tls('min_version: TLS111'),
    refusal: ':1:80 tls_server_config.min_version: expected one of TLS12, TLS13, found "TLS111"',
  },
  {
    ...STRICTER,
    name: 'a version that is insecure',
    yml: tls('min_version: TLS10'),
    refusal:
      ':1:80 tls_server_config.min_version: expected TLS12 or TLS13, found "TLS10", which is insecure (RFC 8996)',
  },
  {
    ...STRICTER,
    name: 'no version at all',
    yml: tls('min_version: TLS13, max_version: TLS12'),
    refusal:
      ':1:80 tls_server_config.min_version: expected a min_version up to max_version, found a later one',
  },
  {
    name: 'an invented suite',
    yml: tls('cipher_suites: [TLS_RSA_WITH_ROT13]'),
    refusal: `:1:83 tls_server_config.cipher_suites: expected one of ${KNOWN_SUITES}, found "TLS_RSA_WITH_ROT13"`,
  },
  {
    ...STRICTER,
    name: 'a suite without forward secrecy',
    yml: tls('cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA]'),
    refusal: `:1:83 tls_server_config.cipher_suites: expected one of ${KNOWN_SUITES}, found "TLS_RSA_WITH_AES_128_CBC_SHA"`,
  },
  {
    name: 'curves that are no list',
    yml: tls('curve_preferences: CurveP256'),
    refusal: ':1:86 tls_server_config.curve_preferences: expected a list of names, found a text',
  },
  {
    name: 'an invented curve',
    yml: tls('curve_preferences: [CurveP257]'),
    refusal:
      ':1:87 tls_server_config.curve_preferences: expected one of CurveP256, CurveP384, CurveP521, X25519, found "CurveP257"',
  },
  {
    name: 'a password that is not hashed',
    yml: 'basic_auth_users: { a: hunter2 }',
    refusal: `:1:24 basic_auth_users: ${BCRYPT}`,
  },
  {
    name: 'a hash that was cut',
    yml: `basic_auth_users: { a: ${HASH.slice(0, 40)} }`,
    refusal: `:1:24 basic_auth_users: ${BCRYPT}`,
  },
  {
    name: 'a user without a hash',
    yml: 'basic_auth_users:\n  a:',
    refusal: `:2:3 basic_auth_users: ${BCRYPT.replace('a text that is none', 'nothing')}`,
  },
  {
    name: 'a hash that costs too little',
    yml: `basic_auth_users: { a: ${HASH.replace('$10$', '$03$')} }`,
    refusal: `:1:24 basic_auth_users: ${BCRYPT}`,
  },
  {
    ...STRICTER,
    name: 'a hash of a kind that no one writes any more',
    yml: `basic_auth_users: { a: ${HASH.replace('2y', '2x')} }`,
    refusal: `:1:24 basic_auth_users: ${BCRYPT}`,
  },
  {
    name: 'users in a list',
    yml: 'basic_auth_users: [a]',
    refusal: ':1:19 basic_auth_users: expected a mapping, found a list',
  },
  {
    name: 'HTTP/2 perhaps',
    yml: 'http_server_config: { http2: maybe }',
    refusal: ':1:30 http_server_config.http2: expected true or false, found "maybe"',
  },
  {
    name: 'another header',
    yml: 'http_server_config: { headers: { Server: x } }',
    refusal: ':1:34 http_server_config.headers.Server: expected a known key, found "Server"',
  },
  {
    name: 'another value of a header',
    yml: 'http_server_config: { headers: { X-Frame-Options: DENY } }',
    refusal:
      ':1:51 http_server_config.headers.X-Frame-Options: expected one of deny, sameorigin, found "DENY"',
  },
  {
    ...STRICTER,
    name: 'a header of two lines',
    yml: 'http_server_config: { headers: { X-XSS-Protection: "a\\nb" } }',
    refusal:
      ':1:52 http_server_config.headers.X-XSS-Protection: expected the value of a header, found a text with characters that have no place in one',
  },
  {
    name: 'a rate without a burst',
    yml: 'rate_limit: { interval: 1s }',
    refusal: ':1:13 rate_limit: expected a burst of at least 1, or every request is refused, found none',
  },
  {
    name: 'a rate without a unit',
    yml: 'rate_limit: { interval: 5, burst: 1 }',
    refusal: ':1:25 rate_limit.interval: expected a duration such as 500ms or 1s, found "5"',
  },
  {
    name: 'a burst that is no number',
    yml: 'rate_limit: { interval: 5s, burst: some }',
    refusal: ':1:36 rate_limit.burst: expected a whole number, found "some"',
  },
  {
    name: 'a key where its file should be',
    yml: 'tls_server_config: { cert_file: server.pem, key_file: "-----BEGIN PRIVATE KEY-----" }',
    refusal: ':1:55 tls_server_config.key_file: expected the path of a file, found a text that is none',
  },
];
