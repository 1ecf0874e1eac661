import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContextOptions } from 'node:tls';
import type { ReadFile } from '../../config/files.ts';
import { readPem } from '../../config/files.ts';
import type { Problem } from '../../config/problem.ts';
import { ConfigError, mismatch } from '../../config/problem.ts';
import type { ClientAuth } from './go-names.ts';
import { CIPHER_SUITES, TLS13_SUITES } from './go-names.ts';
import type { PemSource, TlsSection } from './tls-section.ts';

/** What a server with TLS needs: certificates read and tried. */
export interface TlsFront {
  readonly context: SecureContextOptions;
  readonly clientAuth: ClientAuth;
  readonly allowedSans: ReadonlySet<string> | undefined;
}

const CERTIFICATES =
  /-----BEGIN (?:[A-Z0-9]+ )*CERTIFICATE-----[\s\S]+?-----END (?:[A-Z0-9]+ )*CERTIFICATE-----/g;

/** What OpenSSL says where certificate and key are each good by themselves. */
const MISMATCHES: readonly unknown[] = [
  'ERR_OSSL_X509_KEY_VALUES_MISMATCH',
  'ERR_OSSL_X509_KEY_TYPE_MISMATCH',
];

/** Reads what the section names and tries it; rejects with a ConfigError that shows no key. */
export async function readTlsFront(section: TlsSection, readFile: ReadFile): Promise<TlsFront> {
  const { clientAuth, allowedSans } = section;
  const parts = await Promise.all([
    readSource(section.cert, 'CERTIFICATE', readFile),
    readSource(section.key, 'PRIVATE KEY', readFile),
    section.clientCa === undefined ? '' : readSource(section.clientCa, 'CERTIFICATE', readFile),
  ]);
  const problems = parts.filter((part) => typeof part !== 'string');
  if (problems.length > 0) throw new ConfigError(problems);
  const [cert = '', key = '', ca = ''] = parts.map(String);
  tryPair(section, cert, key);
  if (section.clientCa !== undefined) tryCertificates(section.clientCa, ca);
  return {
    context: { cert, key, ...(ca === '' ? {} : { ca }), ...protocolOptions(section) },
    clientAuth,
    allowedSans: allowedSans === undefined ? undefined : new Set(allowedSans),
  };
}

function readSource(
  source: PemSource,
  kind: 'CERTIFICATE' | 'PRIVATE KEY',
  readFile: ReadFile,
): Promise<string | Problem> {
  const { place } = source;
  // One that stands in the web configuration is read as if it were a file; its text is no path to be shown.
  if ('file' in source) return readPem(readFile, source.file, kind);
  return readPem(() => Promise.resolve(source.text), { path: '(inline)', place, folder: undefined }, kind);
}

function tryPair({ cert: { place }, key: { place: keyPlace } }: TlsSection, cert: string, key: string): void {
  try {
    createSecureContext({ cert });
  } catch (error) {
    throw problem(place, 'a certificate (PEM)', `one that cannot be used (${codeOf(error)})`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const code = codeOf(error);
    const found = MISMATCHES.includes(code) ? 'that of another one' : `one that cannot be used (${code})`;
    throw problem(keyPlace, 'the key of the certificate, not encrypted', found);
  }
}

function tryCertificates({ place }: PemSource, text: string): void {
  try {
    const all = [...text.matchAll(CERTIFICATES)].map(([certificate]) => new X509Certificate(certificate));
    if (all.length > 0) return;
  } catch (error) {
    throw problem(place, 'certificates (PEM)', `one that cannot be used (${codeOf(error)})`);
  }
  throw problem(place, 'certificates (PEM)', 'the beginning of one alone');
}

function problem(place: string, expected: string, found: string): ConfigError {
  return new ConfigError([{ place, message: mismatch(expected, found) }]);
}

/** OpenSSL's codes name what is wrong, and quote nothing. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

function protocolOptions(section: TlsSection): SecureContextOptions {
  const { minVersion, maxVersion, cipherSuites, curves, prefersOwnOrder } = section;
  const suites = cipherSuites?.filter((name) => !TLS13_SUITES.includes(name));
  const ciphers = suites && [...TLS13_SUITES, ...suites.map((name) => CIPHER_SUITES.get(name))].join(':');
  return {
    minVersion,
    maxVersion,
    honorCipherOrder: prefersOwnOrder,
    ...(ciphers === undefined ? {} : { ciphers }),
    ...(curves === undefined ? {} : { ecdhCurve: curves.join(':') }),
  };
}
