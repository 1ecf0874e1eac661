import type { Socket } from 'node:net';
import type { ConnectionCloseReason, WebMetrics } from '../metrics/exposition/web-metrics.ts';
import { MAX_CONNECTIONS, MAX_UNREAD_RESPONSE_BYTES } from '../runtime/limits.ts';
import { FairShare, type Share } from './fair-share.ts';
import type { WebResponse } from './http-messages.ts';

/** How long a client may take to read a response. */
const MAX_READING_MS = 60_000;

/** An open connection. */
export interface Connection extends Share {
  readonly socket: Socket;
  /** Whether the response to an authorized request is being created. */
  isBusy: boolean;
  /** Whether a request is in progress, until its response has been read. */
  hasRequest: boolean;
  /** The response that its client has not read yet; the time is monotonic. */
  unread: { readonly body: WebResponse['body']; readonly sinceMs: number } | undefined;
  /** Whether the connection ends after the response in progress. */
  isClosing: boolean;
  /** Whether its TLS handshake is unfinished. */
  isInHandshake: boolean;
  /** Whether it has no acceptable client certificate, and is open for probes only. */
  isCertificateRejected: boolean;
}

/** The connections to the web server. If there are too many, one gives way; those without a busy request are idle. */
export class Connections {
  readonly #metrics: WebMetrics;
  readonly #open: FairShare<Connection>;
  readonly #bySocket = new WeakMap<Socket, Connection>();

  constructor(metrics: WebMetrics, maxConnections = MAX_CONNECTIONS) {
    this.#metrics = metrics;
    this.#open = new FairShare(maxConnections, ({ isBusy }) => !isBusy);
  }

  /** Adds a new connection until it closes. */
  add(socket: Socket, isInHandshake = false): void {
    const connection: Connection = {
      socket,
      client: toClientKey(socket.remoteAddress),
      isBusy: false,
      hasRequest: false,
      unread: undefined,
      isClosing: false,
      isInHandshake,
      isCertificateRejected: false,
    };
    this.#bySocket.set(socket, connection);
    this.#metrics.addConnections(1);
    socket.once('close', () => {
      this.#open.delete(connection);
      this.#metrics.addConnections(-1);
    });
    this.#close(this.#open.add(connection), 'max_connections');
  }

  /** Makes a TLS socket known as the same connection as the socket below it, and returns the connection. */
  link(tlsSocket: Socket, socket: Socket): Connection | undefined {
    const connection = this.get(socket);
    if (connection === undefined) return undefined;
    connection.isInHandshake = false;
    this.#bySocket.set(tlsSocket, connection);
    return connection;
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

  /**
   * Limits the time and the memory of responses that clients have not read yet. A body that several responses share counts
   * once. A new response closes connections that take too long, and those that give way if there are too many bytes.
   */
  startReading(connection: Connection, body: WebResponse['body'], nowMs: number): void {
    connection.unread = { body, sinceMs: nowMs };
    const isTooSlow = ({ unread }: Connection): boolean =>
      unread !== undefined && nowMs - unread.sinceMs >= MAX_READING_MS;
    while (this.#close(this.#open.evict(isTooSlow), 'slow_client'));
    // Closing another reader of the same body would free nothing.
    const hasOther = ({ unread }: Connection): boolean => unread !== undefined && unread.body !== body;
    while (this.#countUnreadBytes() > MAX_UNREAD_RESPONSE_BYTES)
      if (!this.#close(this.#open.evict(hasOther), 'slow_client')) break;
  }

  #countUnreadBytes(): number {
    const bodies = new Set(this.#open.entries.map(({ unread }) => unread?.body ?? ''));
    return [...bodies].reduce((bytes, body) => bytes + Buffer.byteLength(body), 0);
  }

  #close(victim: Connection | undefined, reason: ConnectionCloseReason): boolean {
    if (victim === undefined) return false;
    this.#metrics.recordConnectionClosed(reason);
    victim.socket.destroy();
    return true;
  }

  /** Closes unfinished TLS handshakes, which `Server.close` of Node.js does not know. */
  closeHandshakes(): void {
    for (const { socket, isInHandshake } of this.#open.entries) if (isInHandshake) socket.destroy();
  }
}

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const IPV6_GROUPS = 8;
const IPV6_NETWORK_GROUPS = 4;

/**
 * Returns what counts as one client: an IPv4 address, or the /64 network of an IPv6 address, because a single machine
 * can use every address of its network. `address` is a socket's `remoteAddress`.
 */
export function toClientKey(address: string | undefined): string {
  if (address === undefined) return '';
  const mapped = MAPPED_IPV4.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const omitted = tail === undefined ? 0 : IPV6_GROUPS - before.length - after.length;
  const groups = [...before, ...Array.from({ length: Math.max(0, omitted) }, () => '0'), ...after];
  return `${groups.slice(0, IPV6_NETWORK_GROUPS).join(':')}::/64`;
}
