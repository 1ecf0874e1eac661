import { X509Certificate } from 'node:crypto';
import { rootCertificates, type DetailedPeerCertificate, type PeerCertificate } from 'node:tls';
import { splitCertificates } from '../runtime/certificates.ts';

/** Reading those of Node.js takes some 70 ms. */
let bundled: ReadonlyMap<string, number> | undefined;

type Certificate = PeerCertificate & Partial<DetailedPeerCertificate>;

/**
 * Finds when the path by which a client verified a certificate expires. What a server sends may go on beyond
 * it: a cross-signed certificate, for example, with the name and the key of one that the client trusts.
 */
export class CertificatePaths {
  readonly #authorities: string | undefined;
  /** When the certificates that the client trusts expire, by subject and key; of several the last one. */
  #trusted: ReadonlyMap<string, number> | undefined;

  /** `authorities` are trusted certificates (PEM), instead of those that Node.js bundles. */
  constructor(authorities: string | undefined) {
    this.#authorities = authorities;
  }

  /** The soonest expiry of the path, in milliseconds since the Unix epoch. */
  findSoonestExpiryMs(certificate: Certificate): number {
    const trusted = (this.#trusted ??= readTrusted(this.#authorities));
    let soonestMs = Date.parse(certificate.valid_to);
    // The last certificate of a chain is its own issuer, or has none if the chain is incomplete.
    for (let last = certificate; !trusted.has(identify(last));) {
      const { issuerCertificate: issuer } = last;
      if (issuer === undefined || issuer.fingerprint256 === last.fingerprint256) break;
      soonestMs = Math.min(soonestMs, trusted.get(identify(issuer)) ?? Date.parse(issuer.valid_to));
      last = issuer;
    }
    return soonestMs;
  }
}

function readTrusted(authorities: string | undefined): ReadonlyMap<string, number> {
  if (authorities === undefined) return (bundled ??= indexExpiries(rootCertificates));
  return indexExpiries(splitCertificates(authorities));
}

function indexExpiries(certificates: readonly string[]): ReadonlyMap<string, number> {
  const trusted = new Map<string, number>();
  for (const pem of certificates) {
    const certificate = new X509Certificate(pem).toLegacyObject();
    const identity = identify(certificate);
    trusted.set(identity, Math.max(trusted.get(identity) ?? 0, Date.parse(certificate.valid_to)));
  }
  return trusted;
}

function identify({ subject, pubkey }: PeerCertificate): string {
  return JSON.stringify([subject, pubkey?.toString('base64')]);
}
