import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../../runtime/logger.ts';
import type { Connections } from '../connections.ts';
import type { TlsServerOptions } from './tls-options.ts';
import type { WebConfigurationSource } from './web-configuration.ts';

/** For the whole handshake, also of a client that sends a byte at a time. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** No scraper or browser changes keys, which takes time of the event loop and no byte of a request. */
const MAX_KEY_UPDATES = 32;
/** OpenSSL recognizes GET, HEAD, POST, PUT and CONNECT; others look like any broken handshake. */
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
  /** Whether clients with a rejected certificate may send requests, for the authorizer to decide. */
  readonly hasOpenProbes: boolean;
  readonly connections: Connections;
  readonly logger: Logger;
}

/** Creates an HTTPS server that applies reloads of the web configuration to new connections. */
export function createTlsServer(
  options: ServerOptions,
  tls: TlsServerOptions,
  listener: RequestListener,
  { webConfigurationSource: source, hasOpenProbes, connections, logger }: TlsDependencies,
): Server {
  const server = createServer(
    {
      ...options,
      ...tls.secureContext,
      requestCert: tls.clientAuth.isRequested,
      // `getRejectionReason` decides: a certificate may be optional or unverified.
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    },
    listener,
  );
  // The TLS socket reports errors of the connection; this one may fail to send the 400 to plain HTTP.
  server.on('connection', (socket) => void socket.on('error', () => undefined));
  // Before the listener of HTTP, which ignores destroyed sockets.
  server.prependListener('secureConnection', (socket) => {
    const connection = connections.link(socket, getTcpSocket(socket));
    const current = source.current.tls;
    // Without a connection the client has disconnected.
    if (connection === undefined || current === undefined) return void socket.destroy();
    socket.on('keylog', () => {
      connection.keyUpdates += 1;
      if (connection.keyUpdates > MAX_KEY_UPDATES) connections.close(connection, 'key_updates');
    });
    const reason = getRejectionReason(socket, current);
    if (reason === undefined) return;
    logger.debug({ reason }, 'Client certificate rejected');
    if (hasOpenProbes) connection.isCertificateRejected = true;
    else socket.destroy();
  });
  // Scanners and clients with other versions or CAs are not logged: no change here would help them.
  server.on('tlsClientError', (error, socket) => {
    const tcpSocket = getTcpSocket(socket);
    if (tcpSocket !== undefined && 'code' in error && PLAIN_HTTP_CODES.includes(error.code))
      tcpSocket.end(PLAIN_HTTP_RESPONSE, () => tcpSocket.destroy());
    else socket.destroy();
  });
  source.onReload(({ tls: next }) => {
    if (next !== undefined) server.setSecureContext(next.secureContext);
  });
  return server;
}

/** Undocumented: Node.js has no other link between the two sockets of a TLS connection. */
function getTcpSocket(socket: TLSSocket): Socket | undefined {
  const parent: unknown = Reflect.get(socket, '_parent');
  return parent instanceof Socket ? parent : undefined;
}

function getRejectionReason(socket: TLSSocket, { clientAuth }: TlsServerOptions): string | undefined {
  if (!clientAuth.isRequested) return undefined;
  if (socket.getPeerX509Certificate() === undefined)
    return clientAuth.isRequired ? 'no certificate' : undefined;
  return clientAuth.isVerified && !socket.authorized ? 'certificate verification failed' : undefined;
}
