import { isIP, SocketAddress } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsServerOptions } from './tls-options.ts';

/** One entry of Node's `subjectAltName`; names with special characters are JSON strings. Node has no parsed form. */
const SUBJECT_ALT_NAME = /(DNS|email|URI|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)|[^,]*(?:, |$)/gy;

/** Returns why the client certificate of a connection is rejected; `undefined` if it is accepted. */
export function getRejectionReason(
  socket: Pick<TLSSocket, 'getPeerX509Certificate' | 'authorized'>,
  { clientAuth, allowedSans }: TlsServerOptions,
): string | undefined {
  if (!clientAuth.isRequested) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return clientAuth.isRequired ? 'no certificate' : undefined;
  if (clientAuth.isVerified && !socket.authorized) return 'certificate verification failed';
  if (allowedSans === undefined) return undefined;
  const names = parseSubjectAltNames(certificate.subjectAltName ?? '');
  return names.some((name) => allowedSans.has(name)) ? undefined : 'no allowed subject alternative name';
}

/** Parses Node's `subjectAltName` into DNS names, email addresses, URIs and IP addresses (in Go's notation). */
export function parseSubjectAltNames(subjectAltName: string): readonly string[] {
  return [...subjectAltName.matchAll(SUBJECT_ALT_NAME)].flatMap(([, kind, name]) => {
    if (kind === undefined || name === undefined) return [];
    const text = name.startsWith('"') ? String(JSON.parse(name)) : name;
    return [kind === 'IP Address' ? canonicalizeAddress(text) : text];
  });
}

/** Node writes `0:0:0:0:0:0:0:1`, Go `::1`. */
function canonicalizeAddress(address: string): string {
  return isIP(address) === 6 ? new SocketAddress({ address, family: 'ipv6' }).address : address;
}
