import type { Socket } from 'node:net';
import { toClientKey } from './client-address.ts';
import { ClientGroups } from './client-groups.ts';
import type { WebMetrics } from '../metrics/web-metrics.ts';

/** Connections above `maxConnections`, for probes while every other connection has a request in progress. */
export const RESERVED_CONNECTIONS = 64;

/** Longer than scrape intervals: Node's default of 5 s could close a connection just as a scraper reuses it. */
const MAX_IDLE_SECONDS = 120;
const MIN_IDLE_SECONDS = 5;

interface Connection {
  readonly socket: Socket;
  readonly client: string;
  /** Whether an authorized request is in progress. */
  isBusy: boolean;
  /** Whether it was opened above a limit, so that only its probes are answered. */
  readonly isOverLimit: boolean;
}

export interface ConnectionLimits {
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** Maximum number of connections of one client; see `toClientKey`. */
  readonly maxConnectionsPerAddress: number;
  readonly metrics: WebMetrics;
  /** Called with the number of connections when it changes. */
  readonly onCountChange: (count: number) => void;
  /** Called when a connection above a limit replaces an idle one, or is itself limited to probes. */
  readonly onLimitReached: () => void;
}

/**
 * The connections to one listen address. Above a limit, a new connection replaces the longest idle one: of its own
 * client, or of the client with the most connections. If all have authorized requests in progress, it serves probes only.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** Those that became idle last come last. */
  readonly #byClient = new ClientGroups<Connection>();
  readonly #bySocket = new WeakMap<Socket, Connection>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Adds a new connection until it closes. */
  add(socket: Socket): void {
    const client = toClientKey(socket.remoteAddress);
    const connection = { socket, client, isBusy: false, isOverLimit: !this.#makeRoom(client) };
    this.#byClient.add(client, connection);
    this.#bySocket.set(socket, connection);
    this.#reportChange(1);
    socket.once('close', () => this.#remove(connection));
  }

  /** Makes a TLS socket known as the same connection as the socket below it. */
  link(tlsSocket: Socket, socket: Socket): void {
    const connection = this.#bySocket.get(socket);
    if (connection !== undefined) this.#bySocket.set(tlsSocket, connection);
  }

  /** The client of a connection, for limits by client. */
  clientOf(socket: Socket): string {
    return this.#bySocket.get(socket)?.client ?? '';
  }

  isOverLimit(socket: Socket): boolean {
    return this.#bySocket.get(socket)?.isOverLimit === true;
  }

  /** Protects a connection from being replaced while an authorized request is in progress. */
  setBusy(socket: Socket, isBusy: boolean): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.socket.destroyed) return;
    connection.isBusy = isBusy;
    this.#byClient.add(connection.client, connection);
  }

  /** Returns false if a limit is reached and no connection can be closed. */
  #makeRoom(client: string): boolean {
    const { maxConnections, maxConnectionsPerAddress, metrics, onLimitReached } = this.#limits;
    const isIdle = ({ isBusy }: Connection): boolean => !isBusy;
    const close = (victim: Connection | undefined, reason: 'address_limit' | 'total_limit'): boolean => {
      onLimitReached();
      if (victim === undefined) return false;
      metrics.recordConnectionClosed(reason);
      victim.socket.destroy();
      this.#remove(victim);
      return true;
    };
    if (
      this.#byClient.countOf(client) >= maxConnectionsPerAddress &&
      !close(this.#byClient.findOf(client, isIdle), 'address_limit')
    )
      return false;
    return this.#byClient.size < maxConnections || close(this.#byClient.findInLargest(isIdle), 'total_limit');
  }

  #remove(connection: Connection): void {
    if (this.#byClient.delete(connection.client, connection)) this.#reportChange(-1);
  }

  #reportChange(change: number): void {
    this.#limits.metrics.addConnections(change);
    this.#limits.onCountChange(this.#byClient.size);
  }
}

/** How long a connection may be idle: 120 s while at most half of the connections are open, down to 5 s at the limit. */
export function getIdleTimeoutSeconds(count: number, maxConnections: number): number {
  const freeShare = Math.max(0, 1 - count / maxConnections);
  return Math.max(MIN_IDLE_SECONDS, Math.round(MAX_IDLE_SECONDS * Math.min(1, 2 * freeShare)));
}
