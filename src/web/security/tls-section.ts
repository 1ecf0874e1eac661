import { dirname } from 'node:path';
import type { FileReference } from '../../config/files.ts';
import { kindOf } from '../../config/problem.ts';
import type { Field, Findings } from './findings.ts';
import { holdsSecret, showUnlessSecret } from './findings.ts';
import type { ClientAuth } from './go-names.ts';
import {
  BOOLEANS,
  CIPHER_SUITES,
  CLIENT_AUTH_TYPES,
  CURVES,
  NO_CLIENT_AUTH,
  TLS_VERSIONS,
} from './go-names.ts';

/** A PEM text that stands in the file, or in a file of its own. */
export type PemSource =
  | { readonly text: string; readonly place: string }
  | { readonly file: FileReference; readonly place: string };

type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** `tls_server_config`, checked but for the certificates. */
export interface TlsSection {
  readonly cert: PemSource;
  readonly key: PemSource;
  readonly clientCa: PemSource | undefined;
  readonly clientAuth: ClientAuth;
  /** Names (SAN) of which a client's certificate must have one. */
  readonly allowedSans: readonly string[] | undefined;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** In Go's names; undefined for the default. */
  readonly cipherSuites: readonly string[] | undefined;
  /** In OpenSSL's names, in the order of preference. */
  readonly curves: readonly string[] | undefined;
  readonly prefersOwnOrder: boolean;
}

const KEYS = [
  'cert',
  'key',
  'client_ca',
  'cert_file',
  'key_file',
  'client_ca_file',
  'client_auth_type',
  'client_allowed_sans',
  'min_version',
  'max_version',
  'cipher_suites',
  'curve_preferences',
  'prefer_server_cipher_suites',
];

/** Any of these means TLS; without them the other keys have no effect, as in the toolkit. */
const SWITCHES = ['cert', 'key', 'client_ca', 'cert_file', 'key_file', 'client_ca_file', 'client_auth_type'];

/** Go's words for what is no TLS version that we speak, to say why. */
const INSECURE = /^TLS1[01]$/;

/** Reads the section; undefined where TLS is off, or where something is wrong with it. */
export function readTlsSection(findings: Findings, section: Field, file: string): TlsSection | undefined {
  const fields = findings.fields(section, KEYS);
  const field = (key: string): Field | undefined => fields.get(key);
  const pem = (key: string): PemSource | undefined =>
    pemFile(findings, field(`${key}_file`), dirname(file)) ?? pemText(findings, field(key));
  const [cert, key, clientCa] = [pem('cert'), pem('key'), pem('client_ca')];
  const authField = field('client_auth_type');
  const clientAuth = findings.word(authField, CLIENT_AUTH_TYPES) ?? NO_CLIENT_AUTH;
  const options = {
    ...readVersions(findings, field('min_version'), field('max_version'), section),
    cipherSuites: names(findings, field('cipher_suites'), CIPHER_SUITES)?.map(([name]) => name),
    curves: names(findings, field('curve_preferences'), CURVES)?.map(([, name]) => name),
    prefersOwnOrder: findings.word(field('prefer_server_cipher_suites'), BOOLEANS, 'true or false') ?? true,
    allowedSans: findings
      .texts(field('client_allowed_sans'), 'a list of names')
      ?.map((entry) => findings.text(entry, 'a name')),
  };
  if (!SWITCHES.some((name) => findings.text(field(name), 'a text') !== '')) return undefined;
  // What is missing may be what was refused.
  if (findings.problems.length > 0) return undefined;
  checkClients(findings, section, { clientAuth, clientCa, allowedSans: options.allowedSans });
  if (cert === undefined) return findings.refuse(section, 'cert_file (or cert)', 'none');
  if (key === undefined) return findings.refuse(section, 'key_file (or key)', 'none');
  return { cert, key, clientCa, clientAuth, ...options };
}

/** What would look as if it guarded something, and does not. */
function checkClients(
  findings: Findings,
  section: Field,
  { clientAuth, clientCa, allowedSans }: Pick<TlsSection, 'clientAuth' | 'clientCa' | 'allowedSans'>,
): void {
  if (clientCa !== undefined && !clientAuth.isRequested)
    findings.refuse(section, 'a client_auth_type beside the client CA', 'none that asks for a certificate');
  if (allowedSans !== undefined && !clientAuth.isRequired) {
    const expected = 'RequireAnyClientCert or RequireAndVerifyClientCert beside client_allowed_sans';
    findings.refuse(section, expected, 'a client_auth_type that requires no certificate');
  }
}

function pemFile(findings: Findings, field: Field | undefined, folder: string): PemSource | undefined {
  const path = findings.text(field, 'the path of a file');
  if (field === undefined || path === '') return undefined;
  if (holdsSecret(path) || /[\n\0]/.test(path))
    return findings.refuse(field, 'the path of a file', 'a text that is none');
  const place = findings.place(field.path);
  return { file: { path, place, folder }, place };
}

function pemText(findings: Findings, field: Field | undefined): PemSource | undefined {
  const text = findings.text(field, 'a PEM text');
  return field === undefined || text === '' ? undefined : { text, place: findings.place(field.path) };
}

/** The names in a list, each with what it stands for; an empty list is none, as in Go. */
function names(
  findings: Findings,
  list: Field | undefined,
  known: ReadonlyMap<string, string>,
): readonly (readonly [string, string])[] | undefined {
  const fields = findings.texts(list, 'a list of names') ?? [];
  const found = fields.flatMap((field) => {
    if (typeof field.value !== 'string') findings.refuse(field, 'a name', kindOf(field.value));
    else if (field.value === '') findings.refuse(field, 'a name', 'nothing');
    const meant = findings.word(field, known);
    return meant === undefined ? [] : [[String(field.value), meant] as const];
  });
  return found.length === 0 ? undefined : found;
}

function readVersions(
  findings: Findings,
  min: Field | undefined,
  max: Field | undefined,
  section: Field,
): Pick<TlsSection, 'minVersion' | 'maxVersion'> {
  const minVersion = version(findings, min) ?? 'TLSv1.2';
  const maxVersion = version(findings, max) ?? 'TLSv1.3';
  if (minVersion > maxVersion)
    findings.refuse(min ?? section, 'a min_version up to max_version', 'a later one');
  return { minVersion, maxVersion };
}

function version(findings: Findings, field: Field | undefined): TlsVersion | undefined {
  const text = findings.text(field, 'TLS12 or TLS13');
  if (field === undefined || !INSECURE.test(text)) return findings.word(field, TLS_VERSIONS);
  return findings.refuse(field, 'TLS12 or TLS13', `${showUnlessSecret(text)}, which is insecure (RFC 8996)`);
}
