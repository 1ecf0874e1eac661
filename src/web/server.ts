import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { ListenAddress } from '../config/addresses.ts';
import { Answering } from './answering.ts';
import type { AnsweringOptions } from './answering.ts';
import { Door } from './door.ts';
import { createGuard } from './guard.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How often both are looked at; by default it would be half a minute, beyond either. */
const CONNECTIONS_CHECK_MS = 2_000;
/**
 * How long an idle connection is kept: longer than any usual scrape interval. Node's five seconds would close it
 * in the very moment in which a scraper with that interval uses it again.
 */
const KEEP_ALIVE_TIMEOUT_MS = 120_000;
/** How long a socket may stand still: a client that does not read must not hold its answer for ever. */
const SOCKET_TIMEOUT_MS = 60_000;
/** A request line and headers of a scrape are a tenth of this. */
const MAX_HEADER_BYTES = 16 * 1024;
/** How often at most a line says that connections are refused. */
const REFUSAL_LOG_INTERVAL_MS = 60_000;
/** How long requests in flight may go on once the server closes. */
const CLOSE_TIMEOUT_MS = 5_000;

export interface WebServerOptions extends AnsweringOptions {
  /** Where to listen; without a host, on every address. Port 0 takes a free one. */
  readonly addresses: readonly ListenAddress[];
  /** Connections at a time to each address; more are closed at once. */
  readonly maxConnections: number;
  /** Whether probes are answered whoever asks. */
  readonly opensProbes: boolean;
}

/** A server that listens until it is disposed of; then requests in flight have a few seconds to end. */
export interface WebServer extends AsyncDisposable {
  /** Where it listens, with the ports that were taken, in the order of the options. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
}

/** Listens on every address; rejects with the system's error, and listens on none, where one cannot be had. */
export async function startWebServer(options: WebServerOptions): Promise<WebServer> {
  const { guardedBy: source, opensProbes, clock, logger } = options;
  const door = new Door({ source, admitsStrangers: opensProbes, clock, logger });
  const guard = createGuard({ opensProbes, clock, logger });
  const answering = new Answering(options, door, guard);
  const servers: Server[] = [];
  const close = async () => {
    answering.announceClose();
    door.close();
    await closeAll(servers, clock);
    await guard[Symbol.asyncDispose]();
  };
  try {
    for (const address of options.addresses) servers.push(await listen(address, options, door, answering));
  } catch (error) {
    await close();
    throw error;
  }
  return { addresses: servers.map(addressOf), [Symbol.asyncDispose]: close };
}

async function listen(
  { host, port }: ListenAddress,
  { maxConnections, clock, logger }: WebServerOptions,
  door: Door,
  answering: Answering,
): Promise<Server> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (request, response) => answering.start(request, response),
  );
  server.timeout = SOCKET_TIMEOUT_MS;
  server.maxConnections = maxConnections;
  server.on(
    'drop',
    atMostEvery(REFUSAL_LOG_INTERVAL_MS, clock, () => {
      logger.warn({ max_connections: maxConnections }, 'Connections refused, there are too many');
    }),
  );
  putBefore(server, door);
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

/** Connections come to the door, and to HTTP only from there. Node documents that they may be injected. */
function putBefore(server: Server, door: Door): void {
  const listeners = server.listeners('connection');
  const serve = (socket: Socket): void => {
    for (const listener of listeners) Reflect.apply(listener, server, [socket]);
  };
  server.removeAllListeners('connection').on('connection', (socket: Socket) => door.enter(socket, serve));
}

function atMostEvery(intervalMs: number, clock: Clock, act: () => void): () => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonic();
    if (nowMs - lastMs < intervalMs) return;
    lastMs = nowMs;
    act();
  };
}

function addressOf(server: Server): { host: string; port: number } {
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new TypeError(`Expected a server that listens on a port, found ${String(address)}`);
  }
  return { host: address.address, port: address.port };
}

async function closeAll(servers: readonly Server[], clock: Clock): Promise<void> {
  const waiting = new AbortController();
  const deadline = clock.sleep(CLOSE_TIMEOUT_MS, waiting.signal).then(
    () => {
      for (const server of servers) server.closeAllConnections();
    },
    () => undefined,
  );
  await Promise.all(servers.map(closeServer));
  waiting.abort();
  await deadline;
}

/** Resolves once the server accepts nothing more and its last connection has ended. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
