import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Connections } from '../connections.ts';
import { PLAIN_HTTP_TO_TLS } from '../response.ts';
import { getRejectionReason } from './client-certificate.ts';
import type { TlsServerOptions } from './tls-options.ts';
import type { WebConfigurationSource } from './web-configuration.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** OpenSSL recognises GET, HEAD, POST, PUT and CONNECT; other methods look like any other broken handshake. */
const PLAIN_HTTP_CODES: readonly unknown[] = ['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_HTTPS_PROXY_REQUEST'];
const PLAIN_HTTP_RESPONSE = [
  'HTTP/1.0 400 Bad Request',
  'Content-Type: text/plain; charset=utf-8',
  `Content-Length: ${PLAIN_HTTP_TO_TLS.length + 1}`,
  'Connection: close',
  '',
  `${PLAIN_HTTP_TO_TLS}\n`,
].join('\r\n');

export interface TlsServersOptions {
  readonly source: WebConfigurationSource;
  /** Whether clients with a rejected certificate may send requests, for the authorizer to judge. */
  readonly hasOpenProbes: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Handshake {
  readonly socket: Socket;
  readonly end: () => void;
}

/** Creates HTTPS servers that apply reloads of the web configuration to new connections. */
export class TlsServers {
  readonly #options: TlsServersOptions;
  /** Unfinished handshakes by endpoints, the only link between the two sockets of a TLS connection. */
  readonly #handshakes = new Map<string, Handshake>();
  readonly #rejected = new WeakSet<Socket>();

  constructor(options: TlsServersOptions) {
    this.#options = options;
  }

  create(
    options: ServerOptions,
    tls: TlsServerOptions,
    listener: RequestListener,
    connections: Connections,
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
    server.on('connection', (socket) => {
      if (socket instanceof Socket) this.#trackHandshake(socket);
    });
    // Before the listener of HTTP, which ignores destroyed sockets.
    server.prependListener('secureConnection', (socket) => this.#finishHandshake(socket, connections));
    server.on('tlsClientError', (error, socket) => this.#failHandshake(error, socket));
    this.#options.source.onReload(({ tls: next }) => {
      if (next !== undefined) server.setSecureContext(next.secureContext);
    });
    return server;
  }

  /** Whether a connection, which open probes let through, has no acceptable client certificate. */
  isCertificateRejected(socket: Socket): boolean {
    return this.#rejected.has(socket);
  }

  /** Ends handshakes, for which a server's `close` waits and which its `closeAllConnections` leaves open. */
  destroyHandshakes(): void {
    for (const { socket } of this.#handshakes.values()) socket.destroy();
  }

  #trackHandshake(socket: Socket): void {
    // After a reset the system no longer reports endpoints, and two connections could have the same key.
    if (socket.remotePort === undefined) return void socket.destroy();
    const key = formatEndpoints(socket);
    const finished = new AbortController();
    const handshake: Handshake = {
      socket,
      end: () => {
        finished.abort();
        if (this.#handshakes.get(key) === handshake) this.#handshakes.delete(key);
      },
    };
    this.#handshakes.set(key, handshake);
    socket.once('close', handshake.end);
    // The TLS socket reports errors of the connection; this one may fail to send the 400 to plain HTTP.
    socket.on('error', () => undefined);
    this.#options.clock.sleep(HANDSHAKE_TIMEOUT_MS, finished.signal).then(
      () => socket.destroy(),
      () => undefined,
    );
  }

  #finishHandshake(socket: TLSSocket, connections: Connections): void {
    const { source, hasOpenProbes, logger } = this.#options;
    const handshake = this.#handshakes.get(formatEndpoints(socket));
    const { tls } = source.current;
    // Without a handshake the client has disconnected.
    if (handshake === undefined || tls === undefined) return void socket.destroy();
    handshake.end();
    connections.link(socket, handshake.socket);
    const reason = getRejectionReason(socket, tls);
    if (reason === undefined) return;
    logger.debug({ reason }, 'Client certificate rejected');
    if (hasOpenProbes) this.#rejected.add(socket);
    else socket.destroy();
  }

  /** Scanners and clients with other versions or CAs are not logged: no change here would help them. */
  #failHandshake(error: Error, socket: TLSSocket): void {
    const connection = this.#handshakes.get(formatEndpoints(socket))?.socket;
    if (connection !== undefined && 'code' in error && PLAIN_HTTP_CODES.includes(error.code))
      connection.end(PLAIN_HTTP_RESPONSE, () => connection.destroy());
    else socket.destroy();
  }
}

function formatEndpoints({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
