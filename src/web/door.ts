import type { Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { refusalOf } from './client-certificate.ts';
import type { TlsFront } from './config/tls-front.ts';
import type { WebConfigurationSource } from './config/web-configuration-source.ts';

/** How long a connection may take to its first byte, and to the end of its TLS handshake. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** First byte of every TLS handshake; no request of HTTP begins with it. */
const TLS_HANDSHAKE = 22;
/** What Go's servers say, so that whoever searches for it finds it; `healthcheck` knows it. */
export const PLAIN_HTTP_TO_TLS = 'Client sent an HTTP request to an HTTPS server.';

export interface DoorOptions {
  readonly source: WebConfigurationSource;
  /** Lets clients in whose certificate is refused, for `isStranger` to tell. */
  readonly admitsStrangers: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What stands between new connections and HTTP. */
export interface Door {
  /** Takes a new connection; hands it on when it may speak HTTP: itself, or what TLS made of it. */
  enter(this: void, socket: Socket, serve: (socket: Socket) => void): void;
  /** Whether a connection is of a client whose certificate is refused. */
  isStranger(this: void, socket: Socket): boolean;
  /** Breaks off what has not come in yet. */
  close(this: void): void;
}

/**
 * Connections get the TLS settings that are in force when they begin. Whoever speaks plain HTTP to TLS is told so.
 * Each version of the settings has a TLS server of its own, which does not listen: connections are injected.
 */
export function createDoor({ source, admitsStrangers, clock, logger }: DoorOptions): Door {
  const strangers = new WeakSet<Socket>();
  const entering = new Set<Socket>();
  const servers = new WeakMap<TlsFront, TlsServer>();
  const handshakes = new Map<string, (secure: TLSSocket) => void>();

  const serverOf = (tls: TlsFront): TlsServer => {
    const known = servers.get(tls);
    if (known !== undefined) return known;
    const server = createTlsServer(tls).on('secureConnection', (secure) => {
      const refusal = refusalOf(secure, tls);
      if (refusal !== undefined) logger.debug({ found: refusal }, 'Client certificate refused');
      if (refusal !== undefined && !admitsStrangers) secure.destroy();
      else {
        if (refusal !== undefined) strangers.add(secure);
        handshakes.get(endpointsOf(secure))?.(secure);
      }
    });
    servers.set(tls, server);
    return server;
  };

  const admit = async (socket: Socket, serve: (socket: Socket) => void): Promise<void> => {
    const { tls } = await source.latest();
    if (socket.destroyed) return;
    if (tls === undefined) {
      entering.delete(socket);
      serve(socket);
      return;
    }
    const waiting = new AbortController();
    const endpoints = endpointsOf(socket);
    socket.once('close', () => {
      waiting.abort();
      handshakes.delete(endpoints);
    });
    clock.sleep(HANDSHAKE_TIMEOUT_MS, waiting.signal).then(
      () => socket.destroy(),
      () => undefined,
    );
    handshakes.set(endpoints, (secure) => {
      waiting.abort();
      handshakes.delete(endpoints);
      entering.delete(socket);
      serve(secure);
    });
    if ((await firstByte(socket)) === TLS_HANDSHAKE) serverOf(tls).emit('connection', socket);
    else refusePlainHttp(socket);
  };

  return {
    enter(socket, serve) {
      entering.add(socket);
      socket.once('close', () => entering.delete(socket));
      // Resets are nothing to us before HTTP; it then has a listener of its own.
      socket.on('error', () => undefined);
      admit(socket, serve).catch((err: unknown) => {
        logger.error({ err }, 'Connection failed');
        socket.destroy();
      });
    },
    isStranger: (socket) => strangers.has(socket),
    close() {
      for (const socket of entering) socket.destroy();
    },
  };
}

function createTlsServer({ context, clientAuth }: TlsFront): TlsServer {
  const server = createServer({
    ...context,
    requestCert: clientAuth.isRequested,
    // Whether the certificate will do is judged by ourselves: that it is good, or not needed, or has an allowed name.
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  });
  // Scanners, and clients with other versions or no trust in us: nothing that we could do anything about.
  return server.on('tlsClientError', (_, socket) => socket.destroy());
}

/** What a connection and the TLS connection on it have in common. */
function endpointsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** Looks at the first byte and leaves it there; undefined where the connection ends without one. */
function firstByte(socket: Socket): Promise<number | undefined> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve(undefined));
    socket.once('readable', () => {
      const chunk: unknown = socket.read();
      if (!Buffer.isBuffer(chunk)) return resolve(undefined);
      socket.unshift(chunk);
      resolve(chunk[0]);
    });
  });
}

function refusePlainHttp(socket: Socket): void {
  const body = `${PLAIN_HTTP_TO_TLS}\n`;
  const head = `HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
}
