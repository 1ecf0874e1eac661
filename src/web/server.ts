import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { ListenAddress } from '../config/addresses.ts';
import type { Logger } from '../log.ts';
import type { WebConfigurationSource } from './config/web-configuration-source.ts';
import { Door } from './door.ts';
import { createGuard } from './guard.ts';
import type { Guard } from './guard.ts';
import { respondText } from './response.ts';
import type { WebResponse } from './response.ts';
import { isProbe } from './routes.ts';
import type { WebRequest } from './routes.ts';

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
/** How long an answer may take on its way, however slowly the client reads: so long it is held in memory. */
const ANSWER_TIMEOUT_MS = 60_000;
/**
 * Bytes of answers that may be on their way at a time, in memory: beyond it, all but one get a 503. An answer to a client
 * that reads is gone in a moment.
 */
const MAX_BYTES_ON_THEIR_WAY = 128 * 1024 * 1024;
/** A request line and headers of a scrape are a tenth of this. */
const MAX_HEADER_BYTES = 16 * 1024;
/** How often at most a line says that connections are refused. */
const REFUSAL_LOG_INTERVAL_MS = 60_000;
/** How long requests in flight may go on once the server closes. */
const CLOSE_TIMEOUT_MS = 5_000;

export interface WebServerOptions {
  /** Where to listen; without a host, on every address. Port 0 takes a free one. */
  readonly addresses: readonly ListenAddress[];
  readonly handle: (request: WebRequest) => Promise<WebResponse>;
  /** Requests at a time; beyond it they get 503, probes excepted. */
  readonly maxRequests: number;
  /** Connections at a time to each address; more are closed at once. */
  readonly maxConnections: number;
  /** How the server guards itself: TLS, who may ask, and how often. */
  readonly guardedBy: WebConfigurationSource;
  /** Whether probes are answered whoever asks. */
  readonly opensProbes: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
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
  const listener = createListener(options, door, guard);
  const servers: Server[] = [];
  const close = async () => {
    listener.announceClose();
    door.close();
    await closeAll(servers, clock);
    await guard[Symbol.asyncDispose]();
  };
  try {
    for (const address of options.addresses)
      servers.push(await listen(address, options, door, listener.answer));
  } catch (error) {
    await close();
    throw error;
  }
  return { addresses: servers.map(addressOf), [Symbol.asyncDispose]: close };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

function createListener(
  { handle, maxRequests, guardedBy, clock, logger }: WebServerOptions,
  door: Door,
  guard: Guard,
): { answer: Answer; announceClose: () => void } {
  let requests = 0;
  let bytesOnTheirWay = 0;
  let isClosing = false;

  /** Headers of the web configuration stand over those of the answer: they are what someone asked for. */
  const send = (
    response: ServerResponse,
    answer: WebResponse,
    signal: AbortSignal,
    more: WebResponse['headers'],
  ) => {
    const { status, headers, body } = answer;
    // So that the client does not use a connection again that is about to go, or that has a body to be read first.
    if (isClosing || hasBody(response.req)) response.setHeader('Connection', 'close');
    response.writeHead(status, { ...headers, ...more }).end(body);
    clock.sleep(ANSWER_TIMEOUT_MS, signal).then(
      () => response.destroy(),
      () => undefined,
    );
  };
  /** Refused by the guard, they count for nothing: who may not ask keeps no one from asking. */
  const admitted = async (request: WebRequest, response: ServerResponse): Promise<WebResponse> => {
    requests += 1;
    // Comes once: after the last byte, or when the client has gone.
    response.once('close', () => (requests -= 1));
    const isRefused = requests > maxRequests && !isProbe(request.url);
    if (isRefused) return respondText(503, 'Too many requests at a time.');
    const answer = await handle(request);
    // Closed already, it would never be counted out again.
    if (response.closed) return answer;
    const bytes = Buffer.byteLength(answer.body);
    if (bytesOnTheirWay > 0 && bytesOnTheirWay + bytes > MAX_BYTES_ON_THEIR_WAY)
      return respondText(503, 'Too many clients read their answers too slowly.');
    bytesOnTheirWay += bytes;
    response.once('close', () => (bytesOnTheirWay -= bytes));
    return answer;
  };
  /** Never rejects. */
  const answer = async (request: WebRequest, response: ServerResponse, signal: AbortSignal) => {
    const configuration = await guardedBy.latest();
    const { authorization } = request.headers;
    const isStranger = door.isStranger(response.req.socket);
    try {
      const refusal = await guard.refuse(
        { url: request.url, authorization, isStranger, signal },
        configuration,
      );
      if (signal.aborted) return;
      const result = refusal ?? (await admitted(request, response));
      if (!signal.aborted) send(response, result, signal, configuration.headers);
    } catch (err) {
      if (signal.aborted) return;
      logger.error({ err, method: request.method, url: request.url }, 'Request failed');
      send(response, respondText(500, 'Internal server error.'), signal, configuration.headers);
    }
  };
  return {
    answer({ method = 'GET', url = '/', headers }, response) {
      const controller = new AbortController();
      response.once('close', () => controller.abort());
      void answer({ method, url, headers, signal: controller.signal }, response, controller.signal);
    },
    announceClose() {
      isClosing = true;
    },
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

async function listen(
  { host, port }: ListenAddress,
  { maxConnections, clock, logger }: WebServerOptions,
  door: Door,
  answer: Answer,
): Promise<Server> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    answer,
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
