import { isIP, SocketAddress } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsFront } from './config/tls-front.ts';

/** One name of a certificate as Node writes them: with JSON's quotes where it holds anything ambiguous. */
const NAME = /(DNS|email|URI|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)|[^,]*(?:, |$)/gy;

/** Why a client's certificate does not let it in; undefined where nothing is held against it. */
export function refusalOf(
  socket: Pick<TLSSocket, 'getPeerX509Certificate' | 'authorized'>,
  { clientAuth, allowedSans }: TlsFront,
): string | undefined {
  if (!clientAuth.isRequested) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return clientAuth.isRequired ? 'no certificate' : undefined;
  if (clientAuth.isVerified && !socket.authorized)
    return 'a certificate that the client CA does not stand for';
  if (allowedSans === undefined) return undefined;
  const isAllowed = subjectNames(certificate.subjectAltName ?? '').some((name) => allowedSans.has(name));
  return isAllowed ? undefined : 'a certificate without an allowed name';
}

/** DNS names, mail addresses, URIs and IP addresses (as Go writes them) of a certificate's `subjectAltName`. */
export function subjectNames(subjectAltName: string): readonly string[] {
  return [...subjectAltName.matchAll(NAME)].flatMap(([, kind, name]) => {
    if (kind === undefined || name === undefined) return [];
    const text = name.startsWith('"') ? String(JSON.parse(name)) : name;
    return [kind === 'IP Address' ? canonicalAddress(text) : text];
  });
}

/** `::1`, where Node writes `0:0:0:0:0:0:0:1`. */
function canonicalAddress(address: string): string {
  return isIP(address) === 6 ? new SocketAddress({ address, family: 'ipv6' }).address : address;
}
