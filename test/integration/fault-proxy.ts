import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { readIdentity } from '../support/fixtures.ts';

/** Handles a request by writing to the socket. */
export type RequestScript = (connection: Duplex) => void;

/** A certificate of `test/fixtures/tls`. */
type Identity = 'server' | 'expired' | 'wrong-host' | 'self-signed';

/**
 * Forwards requests of the exporter to the simulator until a test sets a fault. Works on sockets, to violate
 * HTTP in ways that an HTTP server cannot.
 */
export class FaultProxy implements AsyncDisposable {
  /** Handles each request instead of the simulator. */
  onRequest: RequestScript | undefined;
  /** Handles each connection before a byte of it is read. */
  onConnection: ((socket: Socket) => void) | undefined;
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
    this.#tls?.setSecureContext(readIdentity(identity));
    this.closeConnections();
  }

  /** Cuts all connections. */
  closeConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Removes all faults. */
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
    const server = createTlsServer(readIdentity('server'), (socket) =>
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
      if (this.onRequest === undefined) {
        simulator ??= this.#connectToSimulator(client);
        simulator.write(head, 'latin1');
      } else this.onRequest(client);
      head = '';
    });
  }

  /** Ends or resets the client's connection when the simulator ends or resets the other one. */
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

/** Resets a connection, or destroys it if it has no RST. */
export function resetConnection(connection: Duplex): void {
  if ('resetAndDestroy' in connection && typeof connection.resetAndDestroy === 'function') {
    connection.resetAndDestroy();
  } else {
    connection.destroy();
  }
}

/** Ignores errors of connections that the other side breaks. */
function ignoreError(): void {}
