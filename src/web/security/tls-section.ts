import { dirname } from 'node:path';
import { z } from 'zod';
import { expectedFound } from '../../config/config-error.ts';
import type { FileReference } from '../../config/files.ts';
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

/** A PEM text in the web configuration itself, or in a file. */
export type PemSource =
  | { readonly text: string; readonly location: string }
  | { readonly file: FileReference; readonly location: string };

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** How the server treats client certificates. */
export interface ClientAuth {
  readonly isRequested: boolean;
  readonly isRequired: boolean;
  /** Whether a certificate must be signed by the client CA. */
  readonly isVerified: boolean;
}

/** `tls_server_config`, valid except for the contents of the certificates. */
export interface TlsSection {
  readonly cert: PemSource;
  readonly key: PemSource;
  readonly clientCa: PemSource | undefined;
  readonly clientAuth: ClientAuth;
  /** A client certificate must have one of these subject alternative names. */
  readonly allowedSans: readonly string[] | undefined;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** OpenSSL's names; `undefined` for the default. */
  readonly cipherSuites: readonly string[] | undefined;
  /** OpenSSL's names, the preferred one first. */
  readonly curves: readonly string[] | undefined;
  readonly isServerCipherOrderPreferred: boolean;
}

/** The suites of TLS 1.3, which cannot be disabled, as in Go: a list of suites is for TLS 1.2. */
export const TLS13_SUITES: readonly string[] = [
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
    reject(context, expectedFound('a min_version up to max_version', 'a later one'), {
      path: section.min_version === undefined ? [] : ['min_version'],
    });
  if (!isTlsEnabled(section)) return;
  const { isRequested, isRequired } = section.client_auth_type ?? NO_CLIENT_AUTH;
  if ((section.client_ca_file ?? section.client_ca) !== undefined && !isRequested)
    reject(
      context,
      expectedFound('a client_auth_type for the client CA', 'one that does not request a certificate'),
    );
  if (section.client_allowed_sans !== undefined && !isRequired)
    reject(
      context,
      expectedFound(
        'RequireAnyClientCert or RequireAndVerifyClientCert for client_allowed_sans',
        'a client_auth_type that does not require a certificate',
      ),
    );
  for (const name of ['cert', 'key'] as const)
    if ((section[`${name}_file`] ?? section[name]) === undefined)
      return reject(context, expectedFound(`${name}_file (or ${name})`, 'neither'));
});

type RawTlsSection = z.output<typeof tlsSectionSchema>;

function isTlsEnabled(section: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(enablingKeys).some((key) => section[key] !== undefined);
}

/** Adds defaults and locations to a valid section; `undefined` if TLS is off. Paths are relative to `file`. */
export function toTlsSection(raw: RawTlsSection, locate: Locate, file: string): TlsSection | undefined {
  const findPem = (name: 'cert' | 'key' | 'client_ca'): PemSource | undefined => {
    const { [`${name}_file` as const]: path, [name]: text } = raw;
    const location = locate(['tls_server_config', path === undefined ? name : `${name}_file`]);
    if (path !== undefined) return { file: { path, location, folder: dirname(file) }, location };
    return text === undefined ? undefined : { text, location };
  };
  const [cert, key] = [findPem('cert'), findPem('key')];
  if (cert === undefined || key === undefined) return undefined;
  return {
    cert,
    key,
    clientCa: findPem('client_ca'),
    clientAuth: raw.client_auth_type ?? NO_CLIENT_AUTH,
    allowedSans: raw.client_allowed_sans?.map((name) => name ?? ''),
    minVersion: raw.min_version ?? 'TLSv1.2',
    maxVersion: raw.max_version ?? 'TLSv1.3',
    cipherSuites: raw.cipher_suites,
    curves: raw.curve_preferences,
    isServerCipherOrderPreferred: raw.prefer_server_cipher_suites ?? true,
  };
}
