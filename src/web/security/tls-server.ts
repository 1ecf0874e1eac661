import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { isIP, Socket, SocketAddress } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Connections } from '../connections.ts';
import type { TlsServerOptions } from './tls-options.ts';
import type { WebConfigurationSource } from './web-configuration.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** OpenSSL recognises GET, HEAD, POST, PUT and CONNECT; other methods look like any other broken handshake. */
const PLAIN_HTTP_CODES: readonly unknown[] = ['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_HTTPS_PROXY_REQUEST'];
/** In the words of Go's servers. `healthcheck` recognises TLS by it. */
const PLAIN_HTTP_TO_TLS = 'Client sent an HTTP request to an HTTPS server.';
const PLAIN_HTTP_RESPONSE = [
  'HTTP/1.0 400 Bad Request',
  'Content-Type: text/plain; charset=utf-8',
  `Content-Length: ${PLAIN_HTTP_TO_TLS.length + 1}`,
  'Connection: close',
  '',
  `${PLAIN_HTTP_TO_TLS}\n`,
].join('\r\n');

interface TlsDependencies {
  readonly webConfigurationSource: WebConfigurationSource;
  /** Whether clients with a rejected certificate may send requests, for the authorizer to judge. */
  readonly hasOpenProbes: boolean;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Creates an HTTPS server that applies reloads of the web configuration to new connections. */
export function createTlsServer(
  options: ServerOptions,
  tls: TlsServerOptions,
  listener: RequestListener,
  { webConfigurationSource: source, hasOpenProbes, connections, clock, logger }: TlsDependencies,
): Server {
  const server = createServer(
    {
      ...options,
      ...tls.secureContext,
      requestCert: tls.clientAuth.isRequested,
      // `getRejectionReason` decides: a certificate may be optional, unverified, or need an allowed name.
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    },
    listener,
  );
  /** Sockets of unfinished handshakes by endpoints, the only link between the two sockets of a TLS connection. */
  const handshakes = new Map<string, { readonly socket: Socket; readonly finished: AbortController }>();

  server.on('connection', (socket) => {
    // After a reset the system no longer reports endpoints, and two connections could have the same key.
    if (!(socket instanceof Socket) || socket.remotePort === undefined) return void socket.destroy();
    const key = formatEndpoints(socket);
    const finished = new AbortController();
    handshakes.set(key, { socket, finished });
    finished.signal.addEventListener('abort', () => {
      if (handshakes.get(key)?.socket === socket) handshakes.delete(key);
    });
    socket.once('close', () => finished.abort());
    // The TLS socket reports errors of the connection; this one may fail to send the 400 to plain HTTP.
    socket.on('error', () => undefined);
    clock.sleep(HANDSHAKE_TIMEOUT_MS, finished.signal).then(
      () => socket.destroy(),
      () => undefined,
    );
  });
  // Before the listener of HTTP, which ignores destroyed sockets.
  server.prependListener('secureConnection', (socket) => {
    const handshake = handshakes.get(formatEndpoints(socket));
    const current = source.current.tls;
    // Without a handshake the client has disconnected.
    if (handshake === undefined || current === undefined) return void socket.destroy();
    handshake.finished.abort();
    const connection = connections.link(socket, handshake.socket);
    const reason = getRejectionReason(socket, current);
    if (reason === undefined) return;
    logger.debug({ reason }, 'Client certificate rejected');
    if (hasOpenProbes && connection !== undefined) connection.isCertificateRejected = true;
    else socket.destroy();
  });
  // Scanners and clients with other versions or CAs are not logged: no change here would help them.
  server.on('tlsClientError', (error, socket) => {
    const connection = handshakes.get(formatEndpoints(socket))?.socket;
    if (connection !== undefined && 'code' in error && PLAIN_HTTP_CODES.includes(error.code))
      connection.end(PLAIN_HTTP_RESPONSE, () => connection.destroy());
    else socket.destroy();
  });
  source.onReload(({ tls: next }) => {
    if (next !== undefined) server.setSecureContext(next.secureContext);
  });
  return server;
}

function formatEndpoints({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** Returns why the client certificate of a connection is rejected; `undefined` if it is accepted. */
function getRejectionReason(
  socket: TLSSocket,
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

/** One entry of Node's `subjectAltName`; names with special characters are JSON strings. Node has no parsed form. */
const SUBJECT_ALT_NAME = /(DNS|email|URI|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)|[^,]*(?:, |$)/gy;

/** Parses Node's `subjectAltName` into DNS names, email addresses, URIs and IP addresses (in Go's notation). */
export function parseSubjectAltNames(subjectAltName: string): readonly string[] {
  return [...subjectAltName.matchAll(SUBJECT_ALT_NAME)].flatMap(([, kind, name]) => {
    if (kind === undefined || name === undefined) return [];
    const text = name.startsWith('"') ? String(JSON.parse(name)) : name;
    // Node writes `0:0:0:0:0:0:0:1`, Go `::1`.
    const isIpv6 = kind === 'IP Address' && isIP(text) === 6;
    return [isIpv6 ? new SocketAddress({ address: text, family: 'ipv6' }).address : text];
  });
}
