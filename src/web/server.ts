import { once } from 'node:events';
import { createServer, IncomingMessage, type RequestListener, type Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { type ListenOptions, Socket } from 'node:net';
import { formatListenAddress, type ListenAddress } from '../config/addresses.ts';
import { ConfigError, expectedFound, formatValue } from '../config/config-error.ts';
import type { Clock } from '../runtime/clock.ts';
import { Connections } from './connections.ts';
import { getBoundAddress, listenOn, resolveHost, toListenError, type ResolveHost } from './listen.ts';
import { RequestHandler, type RequestHandlerOptions } from './request-handler.ts';
import { createTlsServer } from './security/tls-server.ts';
import type { WebConfiguration } from './security/web-configuration-file.ts';

type Server = HttpServer | HttpsServer;

/**
 * Stops the parser of Node.js at a connection that the server has closed. Otherwise, the parser creates a
 * message for each further request in the 64 KiB that it has read, thousands, and no option prevents that.
 * It stops only for `upgrade`, which it sets before it reads it: hence the getter and the empty setter.
 */
class StoppableMessage extends IncomingMessage {
  get upgrade(): boolean {
    return this.socket.destroyed || this.method === 'CONNECT';
  }

  set upgrade(_ignored: boolean) {}
}

const HTTP_OPTIONS = {
  IncomingMessage: StoppableMessage,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** How often Node enforces both timeouts; its default of 30 s would exceed them. */
  connectionsCheckingInterval: 2_000,
  /** Ten times the size of a scrape's request line and headers. */
  maxHeaderSize: 16 * 1024,
  /** Longer than scrape intervals: after Node's default of 5 s, scrapers could reuse a closed connection. */
  keepAliveTimeout: 120_000,
};
/** Ends connections of clients that stop reading. */
const SOCKET_TIMEOUT_MS = 60_000;
/** How long requests in flight may take after the server starts to shut down. */
const CLOSE_TIMEOUT_MS = 5_000;

export interface WebServerOptions extends RequestHandlerOptions {
  /** Without a host, listens on every address. Port 0 takes a free port. */
  readonly addresses: readonly ListenAddress[];
  /** Default: the resolver of the system. */
  readonly resolve?: ResolveHost;
}

/** Listens until it is disposed; then requests in flight have 5 seconds to finish. */
export interface WebServer extends AsyncDisposable {
  /** The bound addresses, in the order of the options: several for a name that has several. */
  readonly addresses: readonly ListenAddress[];
}

/** Listens on every address, or on none; rejects with a ConfigError if a change of settings must help. */
export async function startWebServer(options: WebServerOptions): Promise<WebServer> {
  const { webConfigurationSource: source, metrics, clock } = options;
  const recordCertificate = ({ tls }: WebConfiguration): void => {
    if (tls !== undefined) metrics.setCertificateNotAfter(tls.notAfterMs);
  };
  assertNoTlsOnSockets(options);
  recordCertificate(source.current);
  source.onReload(recordCertificate);
  const connections = new Connections(metrics);
  const requestHandler = new RequestHandler(options, connections);
  const servers: Server[] = [];
  const close = async () => {
    requestHandler.isShuttingDown = true;
    const closed = closeServers(servers, clock);
    if (source.current.tls !== undefined) connections.closeHandshakes();
    await closed;
  };
  const { addresses, resolve = resolveHost, logger } = options;
  try {
    for (const address of addresses) {
      const start = async (listenOptions: ListenOptions): Promise<Server> => {
        const server = createHttpServer(address, requestHandler, connections, options);
        server.listen(listenOptions);
        await once(server, 'listening');
        servers.push(server);
        return server;
      };
      await listenOn(address, start, resolve, logger);
    }
  } catch (error) {
    await close();
    throw toListenError(error, addresses);
  }
  return { addresses: servers.map(getBoundAddress), [Symbol.asyncDispose]: close };
}

/** A Unix socket is protected by its mode, and its clients expect plain HTTP. */
function assertNoTlsOnSockets({ addresses, webConfigurationSource }: WebServerOptions): void {
  const socket = addresses.find(({ socketPath }) => socketPath !== undefined);
  if (socket === undefined || webConfigurationSource.current.tls === undefined) return;
  const found = formatValue(formatListenAddress(socket));
  const message = expectedFound('addresses with a port, because tls_server_config is set', found);
  throw new ConfigError([{ location: 'web.listen_address', message }]);
}

function createHttpServer(
  { socketPath }: ListenAddress,
  requestHandler: RequestHandler,
  connections: Connections,
  options: WebServerOptions,
): Server {
  const { tls } = options.webConfigurationSource.current;
  const listener: RequestListener = (request, response) =>
    requestHandler.handleRequest(request, response, socketPath);
  const server: Server =
    tls === undefined
      ? createServer(HTTP_OPTIONS, listener)
      : createTlsServer(HTTP_OPTIONS, tls, listener, { ...options, connections });
  server.timeout = SOCKET_TIMEOUT_MS;
  // Otherwise Node.js answers expectations itself, before authorization. No request body is read.
  server.on('checkContinue', listener).on('checkExpectation', listener);
  server.on('upgrade', (_request, socket) => void socket.destroy());
  server.on('connection', (socket) => {
    if (socket instanceof Socket) connections.add(socket);
  });
  return server;
}

async function closeServers(servers: readonly Server[], clock: Clock): Promise<void> {
  const closed = new AbortController();
  const deadline = clock.sleep(CLOSE_TIMEOUT_MS, closed.signal).then(
    () => {
      for (const server of servers) server.closeAllConnections();
    },
    () => undefined,
  );
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve()))),
  );
  closed.abort();
  await deadline;
}
