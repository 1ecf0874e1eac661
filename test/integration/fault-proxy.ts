import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { readFixture } from '../support/fixtures.ts';

/** Answers a request, or does not, on the bare connection. */
export type RequestScript = (connection: Duplex) => void;

/** A certificate of `test/fixtures/tls`. */
type Identity = 'server' | 'expired' | 'wrong-host' | 'self-signed';

/**
 * Stands between the exporter and the simulator, and hands every request on until a test sets a fault. What
 * no HTTP server would ever do happens here, on bare sockets.
 */
export class FaultProxy implements AsyncDisposable {
  /** Takes each request in the simulator's place. */
  onRequest: RequestScript | undefined;
  /** Takes each connection, before a byte of it is read. */
  onConnection: ((socket: Socket) => void) | undefined;
  /** Heads of requests that have arrived. */
  requestCount = 0;
  readonly #simulatorPort: number;
  readonly #tls: TlsServer | undefined;
  readonly #sockets = new Set<Socket>();
  #server: Server;
  #port = 0;

  private constructor(simulatorUrl: string, isTls: boolean) {
    this.#simulatorPort = Number(new URL(simulatorUrl).port);
    this.#server = this.#createServer();
    this.#tls = isTls ? this.#createTls() : undefined;
  }

  static async start(simulatorUrl: string, { isTls = false } = {}): Promise<FaultProxy> {
    const front = new FaultProxy(simulatorUrl, isTls);
    await front.#listen();
    return front;
  }

  get port(): number {
    return this.#port;
  }

  /** Closes the port: connections are refused. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.closeConnections();
    await closed;
  }

  /** Presents another certificate to new connections. */
  setCertificate(identity: Identity): void {
    this.#tls?.setSecureContext(readCertificate(identity));
    this.closeConnections();
  }

  /** Cuts all connections. */
  closeConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Is as if nothing had happened. */
  async restore(): Promise<void> {
    this.onRequest = undefined;
    this.onConnection = undefined;
    this.setCertificate('server');
    if (!this.#server.listening) {
      this.#server = this.#createServer();
      await this.#listen();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.close();
    this.closeConnections();
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address() as AddressInfo;
    this.#port = address.port;
  }

  #createServer(): Server {
    return createServer((socket) => {
      this.#track(socket);
      if (this.onConnection !== undefined) this.onConnection(socket);
      else if (this.#tls === undefined) this.#handleConnection(socket);
      else this.#tls.emit('connection', socket);
    });
  }

  #createTls(): TlsServer {
    const server = createTlsServer(readCertificate('server'), (socket) =>
      this.#handleConnection(socket.on('error', ignoreError)),
    );
    return server.on('tlsClientError', ignoreError);
  }

  #handleConnection(client: Duplex): void {
    let head = '';
    let simulator: Socket | undefined;
    client.on('data', (bytes: Buffer) => {
      head += bytes.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      this.requestCount += 1;
      if (this.onRequest === undefined) {
        simulator ??= this.#connectToSimulator(client);
        simulator.write(head, 'latin1');
      } else this.onRequest(client);
      head = '';
    });
  }

  /** What the simulator does to its connection is done to the client's: an end, and a reset. */
  #connectToSimulator(client: Duplex): Socket {
    const simulator = connect(this.#simulatorPort, '127.0.0.1');
    this.#track(simulator);
    client.once('close', () => simulator.destroy());
    simulator.on('error', () => resetConnection(client));
    simulator.pipe(client);
    return simulator;
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', ignoreError).once('close', () => this.#sockets.delete(socket));
  }
}

/** Ends a connection with RST, where there is such a thing. */
export function resetConnection(connection: Duplex): void {
  if ('resetAndDestroy' in connection && typeof connection.resetAndDestroy === 'function') {
    connection.resetAndDestroy();
  } else {
    connection.destroy();
  }
}

function readCertificate(identity: Identity): { cert: Buffer; key: Buffer } {
  return { cert: readFixture(`tls/${identity}.pem`), key: readFixture(`tls/${identity}.key`) };
}

/** A connection that the other side breaks is nothing to report. */
function ignoreError(): void {}
