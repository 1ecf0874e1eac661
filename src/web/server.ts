import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { ListenAddress } from '../config/addresses.ts';
import type { Logger } from '../log.ts';
import { respondText } from './response.ts';
import type { WebResponse } from './response.ts';
import { isProbe } from './routes.ts';
import type { WebRequest } from './routes.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/**
 * How long an idle connection is kept: longer than any usual scrape interval. Node's five seconds would close it
 * in the very moment in which a scraper with that interval uses it again.
 */
const KEEP_ALIVE_TIMEOUT_MS = 120_000;
/** How long a socket may stand still: a client that does not read must not hold its answer for ever. */
const SOCKET_TIMEOUT_MS = 60_000;
/** How long requests in flight may go on once the server closes. */
const CLOSE_TIMEOUT_MS = 5_000;

export interface WebServerOptions {
  /** Where to listen; without a host, on every address. Port 0 takes a free one. */
  readonly addresses: readonly ListenAddress[];
  readonly handle: (request: WebRequest) => Promise<WebResponse>;
  /** Requests at a time; beyond it they get 503, probes excepted. */
  readonly maxRequests: number;
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
  const listener = createListener(options);
  const servers: Server[] = [];
  const close = async () => {
    listener.announceClose();
    await closeAll(servers, options.clock);
  };
  try {
    for (const address of options.addresses) servers.push(await listen(address, listener.answer));
  } catch (error) {
    await close();
    throw error;
  }
  return { addresses: servers.map(addressOf), [Symbol.asyncDispose]: close };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

function createListener(options: WebServerOptions): { answer: Answer; announceClose: () => void } {
  const { handle, maxRequests, logger } = options;
  let requests = 0;
  let isClosing = false;

  const send = (response: ServerResponse, { status, headers, body }: WebResponse) => {
    // So that the client does not use a connection again that is about to go.
    if (isClosing) response.setHeader('Connection', 'close');
    response.writeHead(status, headers).end(body);
  };
  /** Never rejects. */
  const answer = async (request: WebRequest, response: ServerResponse, signal: AbortSignal) => {
    try {
      const isRefused = requests > maxRequests && !isProbe(request.url);
      const result = isRefused ? respondText(503, 'Too many requests at a time.') : await handle(request);
      if (!signal.aborted) send(response, result);
    } catch (err) {
      if (signal.aborted) return;
      logger.error({ err, method: request.method, url: request.url }, 'Request failed');
      send(response, respondText(500, 'Internal server error.'));
    }
  };
  return {
    answer({ method = 'GET', url = '/', headers }, response) {
      const controller = new AbortController();
      requests += 1;
      // Comes once: after the last byte, or when the client has gone.
      response.once('close', () => {
        requests -= 1;
        controller.abort();
      });
      void answer({ method, url, headers, signal: controller.signal }, response, controller.signal);
    },
    announceClose() {
      isClosing = true;
    },
  };
}

async function listen({ host, port }: ListenAddress, answer: Answer): Promise<Server> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    },
    answer,
  );
  server.timeout = SOCKET_TIMEOUT_MS;
  server.listen(port, host);
  await once(server, 'listening');
  return server;
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
