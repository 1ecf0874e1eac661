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

interface DoorOptions {
  readonly source: WebConfigurationSource;
  /** Lets clients in whose certificate is refused, for `isStranger` to tell. */
  readonly admitsStrangers: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Takes a connection that may speak HTTP. */
type Serve = (socket: Socket) => void;

/**
 * What stands between new connections and HTTP. They get the TLS settings that are in force when they begin; whoever
 * speaks plain HTTP to TLS is told so. Each version of the settings has a TLS server of its own, which does not listen:
 * Node documents that connections may be injected.
 */
export class Door {
  readonly #options: DoorOptions;
  readonly #strangers = new WeakSet<Socket>();
  readonly #servers = new WeakMap<TlsFront, TlsServer>();
  /** Connections that have not come in yet. */
  readonly #entering = new Set<Socket>();
  /** What to do once TLS is agreed on, by the endpoints of the connection. */
  readonly #comingIn = new Map<string, Serve>();

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /** Takes a new connection, and hands on itself or what TLS made of it. */
  enter(socket: Socket, serve: Serve): void {
    this.#entering.add(socket);
    socket.once('close', () => this.#entering.delete(socket));
    // Resets are nothing to us before HTTP; it then has a listener of its own.
    socket.on('error', () => undefined);
    this.#admit(socket, (admitted) => {
      this.#entering.delete(socket);
      serve(admitted);
    }).catch((err: unknown) => {
      this.#options.logger.error({ err }, 'Connection failed');
      socket.destroy();
    });
  }

  /** Whether a connection is of a client whose certificate is refused. */
  isStranger(socket: Socket): boolean {
    return this.#strangers.has(socket);
  }

  /** Breaks off what has not come in yet. */
  close(): void {
    for (const socket of this.#entering) socket.destroy();
  }

  async #admit(socket: Socket, serve: Serve): Promise<void> {
    const { tls } = await this.#options.source.latest();
    if (socket.destroyed) return;
    if (tls === undefined) return serve(socket);
    // Reset by now: the system knows no address any more, and one connection could be taken for another.
    if (socket.remotePort === undefined) return void socket.destroy();
    this.#expect(socket, serve);
    if ((await firstByte(socket)) === TLS_HANDSHAKE) this.#serverOf(tls).emit('connection', socket);
    else refusePlainHttp(socket);
  }

  /** Notes what to do when the handshake ends, and breaks the connection off where it does not. */
  #expect(socket: Socket, serve: Serve): void {
    const waiting = new AbortController();
    const endpoints = endpointsOf(socket);
    const comeIn = (secure: Socket): void => {
      waiting.abort();
      serve(secure);
    };
    this.#comingIn.set(endpoints, comeIn);
    socket.once('close', () => {
      waiting.abort();
      // Another connection may have the same endpoints by now.
      if (this.#comingIn.get(endpoints) === comeIn) this.#comingIn.delete(endpoints);
    });
    this.#options.clock.sleep(HANDSHAKE_TIMEOUT_MS, waiting.signal).then(
      () => socket.destroy(),
      () => undefined,
    );
  }

  #serverOf(tls: TlsFront): TlsServer {
    const known = this.#servers.get(tls);
    if (known !== undefined) return known;
    const server = createTlsServer(tls).on('secureConnection', (secure) => this.#agreed(secure, tls));
    this.#servers.set(tls, server);
    return server;
  }

  #agreed(secure: TLSSocket, tls: TlsFront): void {
    const { admitsStrangers, logger } = this.#options;
    const refusal = refusalOf(secure, tls);
    if (refusal !== undefined) {
      logger.debug({ found: refusal }, 'Client certificate refused');
      this.#strangers.add(secure);
    }
    const comeIn = this.#comingIn.get(endpointsOf(secure));
    // Without a way in, its client has gone already.
    if (comeIn === undefined || (refusal !== undefined && !admitsStrangers)) secure.destroy();
    else comeIn(secure);
  }
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
