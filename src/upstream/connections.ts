import { Socket } from 'node:net';

import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';

import { UpstreamError } from './errors.ts';
import { toUpstreamError } from './failure.ts';

/** PEM texts. */
interface TlsOptions {
  /** Certificates of the authorities to trust, in place of those that Node brings along. */
  readonly ca?: string;
  /** Certificate that this client shows, with its chain. */
  readonly cert?: string;
  readonly key?: string;
}

/**
 * What the environment says of proxies. A proxy is an http or https URL; without a scheme, http is meant.
 * Without a proxy for https, the one for http serves both.
 */
interface ProxyOptions {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  /** Hosts to reach directly, separated by commas or spaces: `host`, `.domain`, `host:port`, or `*` for all. */
  readonly noProxy?: string;
}

export interface ConnectionOptions {
  /** Name resolution, TCP and TLS together; a tunnel through a proxy has as much again. */
  readonly connectTimeoutMs: number;
  /** Connections per origin. */
  readonly maxConnections: number;
  readonly tls: TlsOptions;
  readonly proxy: ProxyOptions;
}

/**
 * Longer than the usual interval between two polls, so that each does not cost a TLS handshake. What a server says
 * in `Keep-Alive` has precedence.
 */
const KEEP_ALIVE_MS = 30_000;

/** The connections of all requests, made as they are needed. Disposing of them closes all, made or being made. */
export interface Connections extends AsyncDisposable {
  readonly dispatcher: Dispatcher;
}

/** @throws Error where a proxy is no http or https URL; its text, which may hold a password, is not in the message. */
export function openConnections(options: ConnectionOptions): Connections {
  const sockets = new Set<Socket>();
  const dispatcher = createDispatcher(options, sockets);
  return {
    dispatcher,
    [Symbol.asyncDispose]: async () => {
      await dispatcher.destroy();
      // undici leaves alone what is still being made.
      for (const socket of sockets) {
        socket.destroy(new Error('The client is closed'));
      }
    },
  };
}

function createDispatcher(options: ConnectionOptions, sockets: Set<Socket>): Dispatcher {
  const { connectTimeoutMs: timeout, maxConnections, tls, proxy } = options;
  const settled = (inherited: object): Pool.Options => ({
    ...inherited,
    connections: maxConnections,
    keepAliveTimeout: KEEP_ALIVE_MS,
    ...('connect' in inherited &&
      isConnector(inherited.connect) && { connect: remembering(inherited.connect, sockets) }),
  });
  return new EnvHttpProxyAgent({
    // Empty, not undefined: undici would look into the environment itself.
    httpProxy: proxyUrl(proxy.httpProxy),
    httpsProxy: proxyUrl(proxy.httpsProxy),
    noProxy: proxy.noProxy ?? '',
    // Plain http goes through a proxy in absolute form: many proxies refuse a tunnel to port 80.
    proxyTunnel: false,
    connect: buildConnector({ timeout, ...tls }),
    requestTls: { timeout, ...tls },
    proxyTls: { timeout },
    factory: (origin, inherited: object) => new Pool(origin, settled(inherited)),
    clientFactory: (origin, inherited: object) =>
      new TunnelPool(origin, { ...settled(inherited), headersTimeout: timeout }),
  });
}

function isConnector(value: unknown): value is buildConnector.connector {
  return typeof value === 'function';
}

/** Keeps the sockets of a connector in `sockets` as long as they live. */
function remembering(connect: buildConnector.connector, sockets: Set<Socket>): buildConnector.connector {
  return (target, callback) => {
    // Its type says nothing of it, but what connects directly returns the socket; a tunnel runs in one of these.
    const socket: unknown = connect(target, callback);
    if (socket instanceof Socket) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  };
}

/**
 * The connections to a proxy in which tunnels are opened. Where a proxy drops a `CONNECT`, undici takes its own
 * `UND_ERR_SOCKET` for the failure of a request on a good connection, and connects anew without end. An error
 * of another kind ends that.
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
        ? new UpstreamError('connect', 'The proxy broke the connection', { cause: failure.cause })
        : failure;
    }
  }
}

function proxyUrl(text: string | undefined): string {
  if (text === undefined || text.trim() === '') {
    return '';
  }
  const url = text.includes('://') ? text.trim() : `http://${text.trim()}`;
  if (!/^https?:/i.test(url) || !URL.canParse(url)) {
    throw new Error('Expected the proxy of the environment to be an http:// or https:// URL');
  }
  return url;
}
