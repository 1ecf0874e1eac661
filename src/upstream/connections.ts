import { Socket } from 'node:net';
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { toUpstreamError } from './error-classification.ts';
import { UpstreamError } from './errors.ts';

/** PEM texts. */
interface TlsOptions {
  /** Trusted CA certificates, instead of those that Node.js bundles. */
  readonly ca?: string;
  /** Client certificate with its chain. */
  readonly cert?: string;
  readonly key?: string;
}

/** Proxies as http or https URLs. If `httpsProxy` is missing, `httpProxy` serves both. */
interface ProxyOptions {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  /** Hosts to connect to directly, separated by commas or spaces: `host`, `.domain`, `host:port`, or `*` for all. */
  readonly noProxy?: string;
}

export interface ConnectionOptions {
  /**
   * For opening a connection: name resolution, TCP and TLS together. A tunnel through a proxy has the same time again.
   * The deadlines of the polls end requests; this one ends attempts that no poll waits for any more.
   */
  readonly timeoutMs: number;
  /** Connections per origin. */
  readonly maxConnections: number;
  readonly tls: TlsOptions;
  readonly proxy: ProxyOptions;
}

/**
 * Longer than the usual poll interval, so that polls do not need a TLS handshake each. A `Keep-Alive` header of the
 * server takes precedence.
 */
const KEEP_ALIVE_MS = 30_000;

/** The connections of a client, opened on demand. Disposing closes all of them, those being opened included. */
export interface Connections extends AsyncDisposable {
  readonly dispatcher: Dispatcher;
}

export function openConnections(options: ConnectionOptions): Connections {
  const sockets = new Set<Socket>();
  const dispatcher = createDispatcher(options, sockets);
  return {
    dispatcher,
    [Symbol.asyncDispose]: async () => {
      await dispatcher.destroy();
      // undici does not close sockets that are still connecting.
      for (const socket of sockets) socket.destroy(new Error('The client is closed'));
    },
  };
}

function createDispatcher(options: ConnectionOptions, sockets: Set<Socket>): Dispatcher {
  const { timeoutMs: timeout, maxConnections, tls, proxy } = options;
  const toPoolOptions = (inherited: object): Pool.Options => ({
    ...inherited,
    connections: maxConnections,
    keepAliveTimeout: KEEP_ALIVE_MS,
    ...('connect' in inherited &&
      isConnector(inherited.connect) && { connect: trackSockets(inherited.connect, sockets) }),
  });
  return new EnvHttpProxyAgent({
    // With undefined, undici would read the environment itself.
    httpProxy: proxy.httpProxy ?? '',
    httpsProxy: proxy.httpsProxy ?? '',
    noProxy: proxy.noProxy ?? '',
    // Sends plain http in absolute form: many proxies reject a tunnel to port 80.
    proxyTunnel: false,
    connect: buildConnector({ timeout, ...tls }),
    requestTls: { timeout, ...tls },
    proxyTls: { timeout },
    factory: (origin, inherited: object) => new Pool(origin, toPoolOptions(inherited)),
    clientFactory: (origin, inherited: object) =>
      new TunnelPool(origin, { ...toPoolOptions(inherited), headersTimeout: timeout }),
  });
}

function isConnector(value: unknown): value is buildConnector.connector {
  return typeof value === 'function';
}

/** Tracks the open sockets of a connector in `sockets`. */
function trackSockets(connect: buildConnector.connector, sockets: Set<Socket>): buildConnector.connector {
  return (target, callback) => {
    // Undocumented: a direct connector returns its socket. Tunnels run inside such sockets.
    const socket: unknown = connect(target, callback);
    if (socket instanceof Socket) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  };
}

/**
 * The connections to a proxy that carry tunnels.
 *
 * If a proxy drops a `CONNECT`, undici reads its own `UND_ERR_SOCKET` as the failure of a request on a good connection
 * and reconnects forever. An error of another type prevents that.
 */
class TunnelPool extends Pool {
  override async connect(
    options: Omit<Dispatcher.ConnectOptions, 'origin'>,
  ): Promise<Dispatcher.ConnectData> {
    try {
      return await super.connect(options);
    } catch (error) {
      const failure = toUpstreamError(error);
      throw failure.reason === 'reset'
        ? new UpstreamError('connect', 'The proxy closed the connection', { cause: failure.cause })
        : failure;
    }
  }
}
