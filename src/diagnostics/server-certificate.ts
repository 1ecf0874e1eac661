import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { X509Certificate } from 'node:crypto';
import { linkAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';

/** A server writes what it likes into its certificate. */
const MAX_CHARACTERS = 200;

/** A certificate that was presented, whether it can be trusted or not. */
export interface ServerCertificate {
  readonly issuer: string;
  /** Host names and addresses that it was issued for. */
  readonly names: string;
  /** Wall-clock milliseconds. */
  readonly validFromMs: number;
  readonly validUntilMs: number;
}

/** By a TLS handshake that verifies nothing: Node.js tells nothing of a certificate that it has rejected. */
export async function fetchServerCertificate(
  baseUrl: string,
  timeoutMs: number,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<ServerCertificate | undefined> {
  const { hostname, port } = new URL(baseUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({
    host,
    port: Number(port || 443),
    ...(isIP(host) === 0 && { servername: host }),
    rejectUnauthorized: false,
  });
  using abort = linkAbort(signal);
  clock.sleep(timeoutMs, abort.signal).then(
    () => socket.destroy(new Error('The handshake timed out')),
    () => undefined,
  );
  try {
    await once(socket, 'secureConnect', { signal });
    const certificate = socket.getPeerX509Certificate();
    return certificate && describeCertificate(certificate);
  } catch {
    signal.throwIfAborted();
    return undefined;
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

function describeCertificate(certificate: X509Certificate): ServerCertificate {
  const { issuer, subject, subjectAltName = subject, validFrom, validTo } = certificate;
  const shorten = (text: string): string => text.replaceAll('\n', ', ').slice(0, MAX_CHARACTERS);
  return {
    issuer: shorten(issuer),
    names: shorten(subjectAltName.replaceAll(/(?:DNS|IP Address):/g, '')),
    validFromMs: Date.parse(validFrom),
    validUntilMs: Date.parse(validTo),
  };
}
