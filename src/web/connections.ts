import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ConnectionCloseReason, WebMetrics } from '../metrics/web-metrics.ts';
import { MAX_CONNECTIONS, MAX_UNREAD_RESPONSE_BYTES } from '../runtime/limits.ts';

/** How long a client may take to read a response. */
const MAX_READING_MS = 60_000;

export interface Connection {
  /** After a TLS handshake, the TLS socket. */
  socket: Socket;
  readonly client: string;
  /** Whether a request is in progress, until its response has been read. */
  hasRequest: boolean;
  /** Whether the response to an authorized request is being created; otherwise the connection is idle. */
  isBusy: boolean;
  /** The response that its client has not read yet; the time is monotonic. */
  unread: { readonly body: Buffer; readonly sinceMs: number } | undefined;
  /** Changes of the TLS keys of both sides since the last complete request. */
  keyUpdates: number;
  /** Whether it has no acceptable client certificate, and is open for probes only. */
  isCertificateRejected: boolean;
}

/** The client with the most connections gives way: its oldest idle one first, else its oldest busy one. */
export class Connections {
  readonly #metrics: WebMetrics;
  readonly #maxConnections: number;
  /** Those whose last request was the longest ago first. */
  readonly #open = new Set<Connection>();
  readonly #bySocket = new WeakMap<Socket, Connection>();

  constructor(metrics: WebMetrics, maxConnections = MAX_CONNECTIONS) {
    this.#metrics = metrics;
    this.#maxConnections = maxConnections;
  }

  add(socket: Socket): void {
    const connection: Connection = {
      socket,
      client: toClientKey(socket.remoteAddress),
      hasRequest: false,
      isBusy: false,
      unread: undefined,
      keyUpdates: 0,
      isCertificateRejected: false,
    };
    this.#bySocket.set(socket, connection);
    this.#open.add(connection);
    this.#metrics.addConnections(1);
    socket.once('close', () => {
      this.#open.delete(connection);
      this.#metrics.addConnections(-1);
    });
    if (this.#open.size > this.#maxConnections) this.close(chooseVictim([...this.#open]), 'max_connections');
  }

  /** Makes a TLS socket the socket of the connection below it. */
  link(tlsSocket: TLSSocket, socket: Socket | undefined): Connection | undefined {
    const connection = socket && this.get(socket);
    if (connection === undefined) return undefined;
    connection.socket = tlsSocket;
    this.#bySocket.set(tlsSocket, connection);
    return connection;
  }

  get(socket: Socket): Connection | undefined {
    const connection = this.#bySocket.get(socket);
    return connection?.socket.destroyed === true ? undefined : connection;
  }

  finishRequest(connection: Connection): void {
    connection.hasRequest = false;
    connection.isBusy = false;
    connection.unread = undefined;
    connection.keyUpdates = 0;
    if (this.#open.delete(connection)) this.#open.add(connection);
  }

  /**
   * Limits time and memory of responses that are not read yet; returns the body to send: that of a response
   * which another client is still reading, if it is equal. A new response closes connections that take too
   * long, and those that give way if there are too many bytes.
   */
  startReading(connection: Connection, created: Buffer, nowMs: number): Buffer {
    connection.isBusy = false;
    const body = [...this.#listUnread()].find((unread) => unread.equals(created)) ?? created;
    connection.unread = { body, sinceMs: nowMs };
    for (const slow of this.#open)
      if (slow.unread !== undefined && nowMs - slow.unread.sinceMs >= MAX_READING_MS)
        this.close(slow, 'slow_client');
    while (this.#countUnreadBytes() > MAX_UNREAD_RESPONSE_BYTES) {
      // Closing another reader of the same body would free nothing.
      const others = [...this.#open].filter(({ unread }) => unread !== undefined && unread.body !== body);
      if (others.length === 0) break;
      this.close(chooseVictim(others), 'slow_client');
    }
    return body;
  }

  #countUnreadBytes(): number {
    return [...this.#listUnread()].reduce((bytes, body) => bytes + body.length, 0);
  }

  #listUnread(): ReadonlySet<Buffer> {
    return new Set([...this.#open].flatMap(({ unread }) => unread?.body ?? []));
  }

  close(connection: Connection | undefined, reason: ConnectionCloseReason): void {
    if (connection === undefined || !this.#open.delete(connection)) return;
    this.#metrics.recordConnectionClosed(reason);
    connection.socket.destroy();
  }

  /** Closes unfinished handshakes of TLS servers, which `Server.close` of Node.js does not know. */
  closeHandshakes(): void {
    for (const { socket } of this.#open) if (!(socket instanceof TLSSocket)) socket.destroy();
  }
}

function chooseVictim(connections: readonly Connection[]): Connection | undefined {
  const counts = new Map<string, number>();
  for (const { client } of connections) counts.set(client, (counts.get(client) ?? 0) + 1);
  // Bounded: the connections.
  const most = Math.max(...counts.values());
  const ofLargest = connections.filter(({ client }) => counts.get(client) === most);
  return ofLargest.find(({ isBusy }) => !isBusy) ?? ofLargest[0];
}

const IPV6_GROUPS = 8;

/** The key of a client: an IPv4 address, or an IPv6 /64 network, all of which one machine can use. */
export function toClientKey(address = ''): string {
  const ipv4 = /^(?:::ffff:)?([\d.]*)$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const groups = address.split(':').filter((group) => group !== '');
  // `::` stands for all groups that are zero.
  const omitted = '0:'.repeat(IPV6_GROUPS - groups.length);
  const [a, b, c, d] = address.replace('::', `:${omitted}`).replace(/^:/, '').split(':');
  return `${a}:${b}:${c}:${d}::/64`;
}
