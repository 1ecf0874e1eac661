import type { Socket } from 'node:net';
import type { WebMetrics } from '../metrics/exposition/web-metrics.ts';
import { MAX_CONNECTIONS } from '../runtime/limits.ts';
import { toClientKey } from './client-address.ts';
import { FairShare } from './fair-share.ts';

/** An open connection. */
export interface Connection {
  readonly socket: Socket;
  /** See `toClientKey`. */
  readonly client: string;
  /** Whether the response to an authorized request is being created. */
  isBusy: boolean;
  /** Whether a request is in progress, until its response has been read. */
  hasRequest: boolean;
  /** Whether the connection ends after the response in progress. */
  isClosing: boolean;
}

/** The connections to the web server. If there are too many, an idle one gives way; if none is idle, a busy one. */
export class Connections {
  readonly #metrics: WebMetrics;
  readonly #maxConnections: number;
  readonly #open = new FairShare<Connection>();
  readonly #bySocket = new WeakMap<Socket, Connection>();

  constructor(metrics: WebMetrics, maxConnections = MAX_CONNECTIONS) {
    this.#metrics = metrics;
    this.#maxConnections = maxConnections;
  }

  /** Adds a new connection until it closes. */
  add(socket: Socket): void {
    const client = toClientKey(socket.remoteAddress);
    const connection = { socket, client, isBusy: false, hasRequest: false, isClosing: false };
    this.#open.add(connection);
    this.#bySocket.set(socket, connection);
    this.#metrics.addConnections(1);
    socket.once('close', () => this.#delete(connection));
    if (this.#open.size > this.#maxConnections) this.#closeOne();
  }

  /** Makes a TLS socket known as the same connection as the socket below it. */
  link(tlsSocket: Socket, socket: Socket): void {
    const connection = this.#bySocket.get(socket);
    if (connection !== undefined) this.#bySocket.set(tlsSocket, connection);
  }

  /** Returns `undefined` for a connection that has been closed. */
  get(socket: Socket): Connection | undefined {
    const connection = this.#bySocket.get(socket);
    return connection?.socket.destroyed === true ? undefined : connection;
  }

  setBusy(connection: Connection, isBusy: boolean): void {
    connection.isBusy = isBusy;
    if (this.#open.delete(connection)) this.#open.add(connection);
  }

  #closeOne(): void {
    const victim = this.#open.findVictim(({ isBusy }) => !isBusy) ?? this.#open.findVictim();
    if (victim === undefined) return;
    this.#metrics.recordConnectionClosed('max_connections');
    this.#delete(victim);
    victim.socket.destroy();
  }

  #delete(connection: Connection): void {
    if (this.#open.delete(connection)) this.#metrics.addConnections(-1);
  }
}
