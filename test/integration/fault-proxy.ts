import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { fixture } from '../support/fixtures.ts';

/** Answers a request, or does not, on the bare connection. */
export type Script = (connection: Duplex) => void;

/** A certificate of `test/fixtures/tls`. */
type Identity = 'server' | 'expired' | 'wrong-host' | 'self-signed';

/**
 * Stands between the exporter and the simulator, and hands every request on until it is told to do otherwise. What
 * no HTTP server would ever do happens here, on bare sockets.
 */
export class Front implements AsyncDisposable {
  /** Takes each request in the simulator's place. */
  script: Script | undefined;
  /** Takes each connection, before a byte of it is read. */
  accept: ((socket: Socket) => void) | undefined;
  /** Heads of requests that have arrived. */
  requests = 0;
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

  static async start(simulatorUrl: string, { isTls = false } = {}): Promise<Front> {
    const front = new Front(simulatorUrl, isTls);
    await front.#listen();
    return front;
  }

  get port(): number {
    return this.#port;
  }

  /** Closes the port: whoever knocks is refused. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.drop();
    await closed;
  }

  /** Shows another certificate to whoever connects from now on. */
  present(identity: Identity): void {
    this.#tls?.setSecureContext(pemOf(identity));
    this.drop();
  }

  /** Cuts all connections. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Is as if nothing had happened. */
  async mend(): Promise<void> {
    this.script = undefined;
    this.accept = undefined;
    this.present('server');
    if (!this.#server.listening) {
      this.#server = this.#createServer();
      await this.#listen();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.close();
    this.drop();
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address() as AddressInfo;
    this.#port = address.port;
  }

  #createServer(): Server {
    return createServer((socket) => {
      this.#keep(socket);
      if (this.accept !== undefined) this.accept(socket);
      else if (this.#tls === undefined) this.#serve(socket);
      else this.#tls.emit('connection', socket);
    });
  }

  #createTls(): TlsServer {
    const server = createTlsServer(pemOf('server'), (socket) => this.#serve(socket.on('error', ignore)));
    return server.on('tlsClientError', ignore);
  }

  #serve(client: Duplex): void {
    let head = '';
    let simulator: Socket | undefined;
    client.on('data', (bytes: Buffer) => {
      head += bytes.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      this.requests += 1;
      if (this.script === undefined) {
        simulator ??= this.#toSimulator(client);
        simulator.write(head, 'latin1');
      } else this.script(client);
      head = '';
    });
  }

  /** What the simulator does to its connection is done to the client's: an end, and a reset. */
  #toSimulator(client: Duplex): Socket {
    const simulator = connect(this.#simulatorPort, '127.0.0.1');
    this.#keep(simulator);
    client.once('close', () => simulator.destroy());
    simulator.on('error', () => reset(client));
    simulator.pipe(client);
    return simulator;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', ignore).once('close', () => this.#sockets.delete(socket));
  }
}

/** Ends a connection with RST, where there is such a thing. */
export function reset(connection: Duplex): void {
  if ('resetAndDestroy' in connection && typeof connection.resetAndDestroy === 'function') {
    connection.resetAndDestroy();
  } else {
    connection.destroy();
  }
}

function pemOf(identity: Identity): { cert: Buffer; key: Buffer } {
  return { cert: fixture(`tls/${identity}.pem`), key: fixture(`tls/${identity}.key`) };
}

/** A connection that the other side breaks is nothing to report. */
function ignore(): void {}
