import { X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import { ConfigError, expectedFound, throwIfAny } from '../../config/config-error.ts';
import { readErrorCode, readPem, type ReadFile } from '../../config/files.ts';
import { findKeyPairMistake } from '../../config/key-pair.ts';
import { TLS13_SUITES, type ClientAuth, type PemSource, type TlsSection } from './tls-section.ts';

/** Options of a TLS server, with certificates that have been read and validated. */
export interface TlsServerOptions {
  readonly secureContext: SecureContextOptions;
  /** Those of the server and of the client CA. */
  readonly certificates: readonly CertificateValidity[];
  readonly clientAuth: ClientAuth;
  readonly allowedSans: ReadonlySet<string> | undefined;
}

/** How long a certificate of the web configuration is valid. */
export interface CertificateValidity {
  readonly kind: 'server' | 'client CA';
  /** Milliseconds since the Unix epoch. */
  readonly notAfterMs: number;
}

const CERTIFICATE_PEM =
  /-----BEGIN (?:[A-Z0-9]+ )*CERTIFICATE-----[\s\S]+?-----END (?:[A-Z0-9]+ )*CERTIFICATE-----/g;

/** Reads and validates the certificates of a TLS section; rejects with a ConfigError that shows no key. */
export async function readTlsServerOptions(
  section: TlsSection,
  readFile: ReadFile,
): Promise<TlsServerOptions> {
  const { clientCa, clientAuth, allowedSans } = section;
  const parts = await Promise.all([
    readPemSource(section.cert, 'CERTIFICATE', readFile),
    readPemSource(section.key, 'PRIVATE KEY', readFile),
    clientCa === undefined ? '' : readPemSource(clientCa, 'CERTIFICATE', readFile),
  ]);
  throwIfAny(parts.filter((part) => typeof part !== 'string'));
  const [cert = '', key = '', ca = ''] = parts.map(String);
  validateKeyPair(section, cert, key);
  const caCertificates = clientCa === undefined ? [] : parseCertificates(clientCa, ca);
  return {
    certificates: [
      // The first certificate is that of the server; an expired one may follow it for old clients (cross-signing).
      toValidity('server', new X509Certificate(cert)),
      ...caCertificates.map((certificate) => toValidity('client CA', certificate)),
    ],
    secureContext: { cert, key, ...(ca === '' ? {} : { ca }), ...buildProtocolOptions(section) },
    clientAuth,
    allowedSans: allowedSans === undefined ? undefined : new Set(allowedSans),
  };
}

function readPemSource(source: PemSource, kind: 'CERTIFICATE' | 'PRIVATE KEY', readFile: ReadFile) {
  if ('file' in source) return readPem(readFile, source.file, kind);
  const { text, location } = source;
  return readPem(() => Promise.resolve(text), { path: '(inline)', location, folder: undefined }, kind);
}

function validateKeyPair(section: TlsSection, cert: string, key: string): void {
  const mistake = findKeyPairMistake(cert, key);
  if (mistake === undefined) return;
  throw new ConfigError([{ location: section[mistake.part].location, message: mistake.message }]);
}

function toValidity(kind: CertificateValidity['kind'], { validTo }: X509Certificate): CertificateValidity {
  return { kind, notAfterMs: Date.parse(validTo) };
}

function parseCertificates(source: PemSource, text: string): readonly X509Certificate[] {
  try {
    const certificates = [...text.matchAll(CERTIFICATE_PEM)].map(([pem]) => new X509Certificate(pem));
    if (certificates.length > 0) return certificates;
  } catch (error) {
    throw createConfigError(source, 'certificates (PEM)', `an invalid one (${readErrorCode(error)})`);
  }
  throw createConfigError(source, 'certificates (PEM)', 'a truncated certificate');
}

/** OpenSSL's error messages could quote the input, so only their codes are shown. */
function createConfigError({ location }: PemSource, expected: string, found: string): ConfigError {
  return new ConfigError([{ location, message: expectedFound(expected, found) }]);
}

function buildProtocolOptions(section: TlsSection): SecureContextOptions {
  const { minVersion, maxVersion, cipherSuites, curves, isServerCipherOrderPreferred } = section;
  const ciphers = cipherSuites && new Set([...TLS13_SUITES, ...cipherSuites]);
  return {
    minVersion,
    maxVersion,
    honorCipherOrder: isServerCipherOrderPreferred,
    ...(ciphers === undefined ? {} : { ciphers: [...ciphers].join(':') }),
    ...(curves === undefined ? {} : { ecdhCurve: curves.join(':') }),
  };
}
