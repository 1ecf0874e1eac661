/**
 * The names of Go's crypto/tls, which the format uses, and what OpenSSL calls the same. Only suites that Go counts as
 * secure: those without forward secrecy (TLS_RSA_…) have not been among them since Go 1.22.
 */
export const CIPHER_SUITES: ReadonlyMap<string, string> = new Map([
  ['TLS_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ['TLS_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'],
  ['TLS_CHACHA20_POLY1305_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'ECDHE-ECDSA-AES128-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', 'ECDHE-ECDSA-AES256-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'ECDHE-RSA-AES128-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', 'ECDHE-RSA-AES256-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
]);

export const CURVES: ReadonlyMap<string, string> = new Map([
  ['CurveP256', 'P-256'],
  ['CurveP384', 'P-384'],
  ['CurveP521', 'P-521'],
  ['X25519', 'X25519'],
]);

/** TLS 1.0 and 1.1 are not among them (RFC 8996): no newer Prometheus needs them, and OpenSSL refuses them by default. */
export const TLS_VERSIONS = new Map([
  ['TLS12', 'TLSv1.2'],
  ['TLS13', 'TLSv1.3'],
] as const);

/** What is asked of a client's certificate. */
export interface ClientAuth {
  readonly isRequested: boolean;
  readonly isRequired: boolean;
  /** Whether one that is given must come from the client CA. */
  readonly isVerified: boolean;
}

const REQUIRE_ANY: ClientAuth = { isRequested: true, isRequired: true, isVerified: false };

export const NO_CLIENT_AUTH: ClientAuth = { isRequested: false, isRequired: false, isVerified: false };

export const CLIENT_AUTH_TYPES: ReadonlyMap<string, ClientAuth> = new Map([
  ['NoClientCert', NO_CLIENT_AUTH],
  ['RequestClientCert', { isRequested: true, isRequired: false, isVerified: false }],
  ['RequireAnyClientCert', REQUIRE_ANY],
  // The older name, which exporters keep taking.
  ['RequireClientCert', REQUIRE_ANY],
  ['VerifyClientCertIfGiven', { isRequested: true, isRequired: false, isVerified: true }],
  ['RequireAndVerifyClientCert', { isRequested: true, isRequired: true, isVerified: true }],
]);

/** The three suites of TLS 1.3, which Go leaves no choice of: a list of suites concerns TLS 1.2 alone. */
export const TLS13_SUITES = [...CIPHER_SUITES.keys()].filter((name) => !name.includes('_WITH_'));

/** The words of YAML 1.1, which Go's library reads: also as `Yes` and `YES`. */
export const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...inEveryCase(['true', 'yes', 'on', 'y'], true),
  ...inEveryCase(['false', 'no', 'off', 'n'], false),
]);

function inEveryCase(words: readonly string[], meaning: boolean): readonly (readonly [string, boolean])[] {
  return words
    .flatMap((word) => [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)])
    .map((word) => [word, meaning] as const);
}
