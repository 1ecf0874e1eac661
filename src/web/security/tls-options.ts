import { X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import { z } from 'zod';
import { ConfigError, expectedFound, throwIfAny } from '../../config/config-error.ts';
import { findKeyPairMistake, readErrorCode, readPem, type ReadFile } from '../../config/files.ts';
import { reject, strictMapping, type Locate } from '../../config/validation.ts';
import {
  boolean,
  expectedMapping,
  expectedValue,
  formatUnlessSecret,
  isSecret,
  optional,
  word,
} from './toolkit-values.ts';

/** A PEM text in the web configuration itself, or in a file with the suffix `_file`. */
type PartName = 'cert' | 'key' | 'client_ca';

type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** How the server treats client certificates. */
interface ClientAuth {
  readonly isRequested: boolean;
  readonly isRequired: boolean;
  /** Whether a certificate must be signed by the client CA. */
  readonly isVerified: boolean;
}

/** Options of a TLS server, with certificates that have been read and validated. */
export interface TlsServerOptions {
  readonly clientAuth: ClientAuth;
  /** A client certificate must have one of these subject alternative names. */
  readonly allowedSans: ReadonlySet<string> | undefined;
  readonly secureContext: SecureContextOptions;
  /** Those of the server and of the client CA. */
  readonly certificates: readonly CertificateValidity[];
}

/** How long a certificate of the web configuration is valid. */
export interface CertificateValidity {
  readonly kind: 'server' | 'client CA';
  /** Milliseconds since the Unix epoch. */
  readonly notAfterMs: number;
}

/** The suites of TLS 1.3, which cannot be disabled, as in Go: a list of suites is for TLS 1.2. */
const TLS13_SUITES: readonly string[] = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
];

/** OpenSSL's names by Go's, without the suites that Go 1.22 calls insecure (TLS_RSA_…, no forward secrecy). */
const CIPHER_SUITES: ReadonlyMap<string, string> = new Map([
  ...TLS13_SUITES.map((name) => [name, name] as const),
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

const CURVES: ReadonlyMap<string, string> = new Map([
  ['CurveP256', 'P-256'],
  ['CurveP384', 'P-384'],
  ['CurveP521', 'P-521'],
  ['X25519', 'X25519'],
]);

/** Without TLS 1.0 and 1.1 (RFC 8996), which the toolkit accepts. */
const TLS_VERSIONS: ReadonlyMap<string, TlsVersion> = new Map([
  ['TLS12', 'TLSv1.2'],
  ['TLS13', 'TLSv1.3'],
]);
const INSECURE_TLS_VERSIONS: readonly unknown[] = ['TLS10', 'TLS11'];

const NO_CLIENT_AUTH: ClientAuth = { isRequested: false, isRequired: false, isVerified: false };
const REQUIRE_ANY: ClientAuth = { isRequested: true, isRequired: true, isVerified: false };
const CLIENT_AUTH_TYPES: ReadonlyMap<string, ClientAuth> = new Map([
  ['NoClientCert', NO_CLIENT_AUTH],
  ['RequestClientCert', { isRequested: true, isRequired: false, isVerified: false }],
  ['RequireAnyClientCert', REQUIRE_ANY],
  // A deprecated name for RequireAnyClientCert.
  ['RequireClientCert', REQUIRE_ANY],
  ['VerifyClientCertIfGiven', { isRequested: true, isRequired: false, isVerified: true }],
  ['RequireAndVerifyClientCert', { isRequested: true, isRequired: true, isVerified: true }],
]);

const pemText = z.string(expectedValue('a PEM text'));
const pemFile = z
  .string(expectedValue('the path of a file'))
  .refine(
    (path) => !isSecret(path) && !/[\n\0]/.test(path),
    expectedValue('the path of a file', { show: () => 'a string that is not a path' }),
  );
const tlsVersion = word(TLS_VERSIONS, 'TLS12 or TLS13', {
  show: (raw) =>
    formatUnlessSecret(raw) + (INSECURE_TLS_VERSIONS.includes(raw) ? ', which is insecure (RFC 8996)' : ''),
});
const listOf = <T extends z.ZodType>(entry: T) => optional(z.array(entry, expectedValue('a list of names')));

/** Settings that turn TLS on; without any of them the others have no effect, as in the toolkit. */
const enablingKeys = {
  cert: optional(pemText),
  key: optional(pemText),
  client_ca: optional(pemText),
  cert_file: optional(pemFile),
  key_file: optional(pemFile),
  client_ca_file: optional(pemFile),
  client_auth_type: optional(word(CLIENT_AUTH_TYPES)),
};

/** Schema of `tls_server_config`. */
export const tlsSectionSchema = strictMapping(
  {
    ...enablingKeys,
    client_allowed_sans: listOf(optional(z.string(expectedValue('a name')))),
    min_version: optional(tlsVersion),
    max_version: optional(tlsVersion),
    cipher_suites: listOf(word(CIPHER_SUITES)),
    curve_preferences: listOf(word(CURVES)),
    prefer_server_cipher_suites: optional(boolean),
  },
  expectedMapping,
).superRefine((section, context) => {
  const { min_version: minVersion = 'TLSv1.2', max_version: maxVersion = 'TLSv1.3' } = section;
  if (minVersion > maxVersion)
    reject(
      context,
      expectedFound('a min_version up to max_version', 'a later one'),
      section.min_version === undefined ? [] : ['min_version'],
    );
  if (!isTlsEnabled(section)) return;
  const { isRequested, isRequired } = section.client_auth_type ?? NO_CLIENT_AUTH;
  if ((section.client_ca_file ?? section.client_ca) !== undefined && !isRequested) {
    const found = 'one that does not request a certificate';
    reject(context, expectedFound('a client_auth_type for the client CA', found));
  }
  if (section.client_allowed_sans !== undefined && !isRequired) {
    const expected = 'RequireAnyClientCert or RequireAndVerifyClientCert for client_allowed_sans';
    const found = 'a client_auth_type that does not require a certificate';
    reject(context, expectedFound(expected, found));
  }
  for (const name of ['cert', 'key'] as const)
    if ((section[`${name}_file`] ?? section[name]) === undefined)
      return reject(context, expectedFound(`${name}_file (or ${name})`, 'neither'));
});

function isTlsEnabled(section: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(enablingKeys).some((key) => section[key] !== undefined);
}

const CERTIFICATE_PEM =
  /-----BEGIN (?:[A-Z0-9]+ )*CERTIFICATE-----[\s\S]+?-----END (?:[A-Z0-9]+ )*CERTIFICATE-----/g;

/**
 * Reads and validates the certificates of a section; resolves to `undefined` if TLS is off, and rejects with a ConfigError
 * that shows no key.
 *
 * @param folder - for relative paths
 */
export async function readTlsServerOptions(
  section: z.output<typeof tlsSectionSchema>,
  locate: Locate,
  folder: string,
  readFile: ReadFile,
): Promise<TlsServerOptions | undefined> {
  if (!isTlsEnabled(section)) return undefined;
  const locatePart = (name: PartName): string =>
    locate(['tls_server_config', section[`${name}_file`] === undefined ? name : `${name}_file`]);
  const readPart = (name: PartName, kind: 'CERTIFICATE' | 'PRIVATE KEY') => {
    const { [`${name}_file` as const]: path, [name]: text } = section;
    const locateThis = () => locatePart(name);
    if (path !== undefined) return readPem(readFile, { path, locate: locateThis, folder }, kind);
    if (text === undefined) return '';
    const inline = { path: '(inline)', locate: locateThis, folder: undefined };
    return readPem(() => Promise.resolve(text), inline, kind);
  };
  const parts = await Promise.all([
    readPart('cert', 'CERTIFICATE'),
    readPart('key', 'PRIVATE KEY'),
    readPart('client_ca', 'CERTIFICATE'),
  ]);
  throwIfAny(parts.filter((part) => typeof part !== 'string'));
  const [cert = '', key = '', ca = ''] = parts.map(String);
  const mistake = findKeyPairMistake(cert, key);
  if (mistake !== undefined)
    throw new ConfigError([{ location: locatePart(mistake.part), message: mistake.message }]);
  const clientCas = ca === '' ? [] : parseCertificates(ca, locatePart('client_ca'));
  const { cipher_suites: suites, curve_preferences: curves, client_allowed_sans: sans } = section;
  return {
    certificates: [
      // The first certificate is that of the server; an expired one may follow it for old clients (cross-signing).
      { kind: 'server', notAfterMs: Date.parse(new X509Certificate(cert).validTo) },
      ...clientCas.map(({ validTo }) => ({ kind: 'client CA' as const, notAfterMs: Date.parse(validTo) })),
    ],
    secureContext: {
      cert,
      key,
      ...(ca === '' ? {} : { ca }),
      minVersion: section.min_version ?? 'TLSv1.2',
      maxVersion: section.max_version ?? 'TLSv1.3',
      honorCipherOrder: section.prefer_server_cipher_suites ?? true,
      ...(suites === undefined ? {} : { ciphers: [...new Set([...TLS13_SUITES, ...suites])].join(':') }),
      ...(curves === undefined ? {} : { ecdhCurve: curves.join(':') }),
    },
    clientAuth: section.client_auth_type ?? NO_CLIENT_AUTH,
    allowedSans: sans && new Set(sans.map((name) => name ?? '')),
  };
}

/** OpenSSL's error messages could quote the input, so only their codes are shown. */
function parseCertificates(text: string, location: string): readonly X509Certificate[] {
  let found = 'a truncated certificate';
  try {
    const certificates = [...text.matchAll(CERTIFICATE_PEM)].map(([pem]) => new X509Certificate(pem));
    if (certificates.length > 0) return certificates;
  } catch (error) {
    found = `an invalid one (${readErrorCode(error)})`;
  }
  throw new ConfigError([{ location, message: expectedFound('certificates (PEM)', found) }]);
}
