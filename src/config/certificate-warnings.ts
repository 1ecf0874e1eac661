import { X509Certificate } from 'node:crypto';
import { expectedFound } from './config-error.ts';

/** OpenSSL negotiates no others, whatever the peer knows. */
const NEGOTIATED_CURVES: readonly unknown[] = ['prime256v1', 'secp384r1', 'secp521r1', undefined];

/** Of extended key usage (RFC 5280, section 4.2.1.12). */
const ANY_USE = '2.5.29.37.0';
const USES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

/**
 * Warns of a certificate with which every handshake fails. `pem` has it first, and then those of its
 * authorities, of which the peer may know others.
 */
export function* findCertificateWarnings(
  pem: string,
  role: keyof typeof USES,
  nowMs: number,
): Generator<string> {
  const certificate = new X509Certificate(pem);
  const curve = certificate.publicKey.asymmetricKeyDetails?.namedCurve;
  if (!NEGOTIATED_CURVES.includes(curve)) {
    const remedy = 'every handshake fails: use P-256, P-384 or RSA';
    yield expectedFound('a key that TLS can use', `one on the curve ${curve}`, remedy);
  }
  const validity = describeInvalidity(certificate, nowMs);
  if (validity !== undefined)
    yield expectedFound('a certificate that is valid', validity, 'renew it, or correct the clock');
  const uses: readonly string[] | undefined = certificate.keyUsage;
  if (uses !== undefined && !uses.includes(USES[role]) && !uses.includes(ANY_USE)) {
    const remedy = `${role === 'client' ? 'the service' : 'scrapers'} will reject it`;
    yield expectedFound(`a certificate for ${role}s`, 'one for other uses (extendedKeyUsage)', remedy);
  }
  if (role === 'server' && certificate.subjectAltName === undefined)
    yield expectedFound(
      'a host name or address of this server in subjectAltName',
      'none',
      'scrapers do not read the common name',
    );
}

function describeInvalidity({ validFrom, validTo }: X509Certificate, nowMs: number): string | undefined {
  const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
  if (toMs < nowMs) return `one that expired on ${formatDate(toMs)}`;
  return fromMs > nowMs ? `one that begins on ${formatDate(fromMs)}` : undefined;
}

function formatDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
