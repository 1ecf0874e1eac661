import { isIP, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector, Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { CLIENT_KEY_EXCHANGE } from '../runtime/key-exchange.ts';
import { CertificatePaths } from './certificate-path.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import { createProxyStatusError, createTimeoutError, toUpstreamError } from './error-classification.ts';
import {
  NO_ADDRESS,
  NO_CONNECTION,
  NO_FREE_CONNECTION,
  NO_HANDSHAKE,
  NO_RESPONSE,
  NO_TUNNEL,
} from './error-codes.ts';
import { UpstreamError } from './errors.ts';
import { NoProxy } from './no-proxy.ts';
import type { Resolver } from './resolver.ts';

interface TlsOptions {
  /** Trusted CA certificates, instead of those that Node.js bundles. */
  readonly ca?: string;
  /** Client certificate with its chain. */
  readonly cert?: string;
  readonly key?: string;
}

/** Proxies as http or https URLs, each for the URLs of one scheme, as for curl. */
interface ProxyOptions {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  /** Hosts to connect to directly, see {@link NoProxy}. */
  readonly noProxy?: string | undefined;
}

export interface ConnectionOptions {
  /** To open a connection, and again for a tunnel through it. Ends attempts that no poll waits for. */
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly tls: TlsOptions;
  readonly proxy: ProxyOptions;
  readonly resolver: Resolver;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly observer?: ConnectionObserver;
}

/** Receives the events of each connection; through a proxy, of that to the proxy, too. */
interface ConnectionObserver {
  /** Before the connection is opened. `host` has the port, unless it is the default one. */
  onConnecting(host: string): void;
  onConnected(socket: Socket): void;
}

/** Of one address of a name, however many there are. */
const MIN_ATTEMPT_MS = 1000;

/** Longer than usual poll intervals: polls need no TLS handshake each. `Keep-Alive` takes precedence. */
const KEEP_ALIVE_MS = 30_000;

/** With `Keep-Alive`. NAT and load balancers forget a connection that is idle for longer, without a word. */
const MAX_KEEP_ALIVE_MS = 60_000;

/**
 * The next request is then the last one on a connection: one that never closes would show no new certificate
 * or address of the service. With its `clientTtl`, undici loops forever once all connections are too old.
 */
const MAX_CONNECTION_AGE_MS = 300_000;

/** Of both sides, for one request. They take time of the event loop, and no byte of a response. */
const MAX_KEY_UPDATES = 32;

/** Of each connection. A resumed TLS session would outlive the certificate that it was opened with. */
const TLS_OPTIONS = { ...CLIENT_KEY_EXCHANGE, maxCachedSessions: 0 };

/** How far a client has come with its connection, for the error of a request. */
interface Progress {
  /** The code of a timeout. */
  waitsFor: string;
  /** Those that were tried, each with its port. */
  addresses: string[];
}

type Connect = (progress: Progress) => buildConnector.connector;

/** A request that was sent, or waits for a connection. */
export interface Exchange {
  readonly response: Promise<Dispatcher.ResponseData<unknown>>;
  /** Host and port of the proxy that it goes through. */
  readonly viaProxy: string | undefined;
  /** Classifies the error of the response. */
  toError(error: unknown): UpstreamError;
  /** The error of a response that has not come in time. */
  toTimeoutError(timeoutMs: number): UpstreamError;
}

/** The connections of a client, opened on demand. Disposing closes all, those being opened included. */
export class UpstreamConnections implements AsyncDisposable {
  /** Only these origins can have a kept-alive connection. */
  readonly originsWithResponse = new Set<string>();
  readonly #options: ConnectionOptions;
  readonly #noProxy: NoProxy;
  /** Those for new requests, by origin and whether they open a connection for each. */
  readonly #dispatchers = new Map<string, Dispatcher>();
  /** All that may have a request or a connection. */
  readonly #openDispatchers = new Set<Dispatcher>();
  readonly #sockets = new Set<Socket>();
  readonly #certificatePaths: CertificatePaths;
  readonly #certificateNotAfterMs = new Map<string, number>();
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#certificatePaths = new CertificatePaths(options.tls.ca);
    this.#noProxy = new NoProxy(options.proxy.noProxy ?? '');
  }

  /** Sends a request; with `isFresh`, on a connection of its own. */
  request(request: Dispatcher.RequestOptions, isFresh: boolean): Exchange {
    const origin = String(request.origin);
    const dispatcher = this.getDispatcher(origin, isFresh);
    const usedProxy = this.#findProxy(origin);
    const isTunnelled = usedProxy !== undefined && origin.startsWith('https:');
    const usedUrl = usedProxy === undefined ? undefined : new URL(usedProxy);
    const peer = isTunnelled ? undefined : usedUrl?.origin;
    const use = new ClientUse();
    const viaProxy = usedUrl?.host;
    const describe = () => ({ addresses: use.client?.progress.addresses ?? [], proxy: peer, viaProxy });
    return {
      response: dispatcher.request({ ...request, reset: isFresh, opaque: use }),
      viaProxy,
      toError: (error) => toUpstreamError(error, describe()),
      toTimeoutError: (timeoutMs) => {
        const { waitsFor = NO_FREE_CONNECTION } = use.client?.progress ?? {};
        const proxyInUse = waitsFor === NO_TUNNEL ? usedUrl?.origin : peer;
        return createTimeoutError(waitsFor, timeoutMs, { ...describe(), proxy: proxyInUse });
      },
    };
  }

  /** The dispatcher of the next request to an origin. */
  getDispatcher(origin: string, isFresh = false): Dispatcher {
    const key = toKey(origin, isFresh);
    const found = this.#dispatchers.get(key);
    if (found !== undefined) return found;
    const created = this.#createDispatcher(origin);
    this.#dispatchers.set(key, created);
    this.#openDispatchers.add(created);
    return created;
  }

  /**
   * Closes the connections of a dispatcher when their requests have ended, unless later requests to the
   * origin have another one already.
   */
  drop(origin: string, dispatcher: Dispatcher): void {
    const key = toKey(origin, false);
    if (this.#dispatchers.get(key) !== dispatcher) return;
    this.#dispatchers.delete(key);
    this.originsWithResponse.delete(origin);
    void dispatcher.close().finally(() => this.#openDispatchers.delete(dispatcher));
  }

  /** Closes each connection when its request has ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#openDispatchers].map((dispatcher) => dispatcher.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#openDispatchers].map((dispatcher) => dispatcher.destroy()));
    // undici does not close sockets that are still connecting.
    for (const socket of this.#sockets) socket.destroy(new Error('The client is closed'));
  }

  /** The soonest expiry in the verified path of certificates; `undefined` before the first TLS connection. */
  getCertificateNotAfterMs(origin: string): number | undefined {
    return this.#certificateNotAfterMs.get(origin);
  }

  #createDispatcher(origin: string): Dispatcher {
    const { timeoutMs: timeout, maxConnections, tls, clock } = this.#options;
    const proxy = this.#findProxy(origin);
    const tlsOptions = { ...tls, ...(tls.ca !== undefined && { allowPartialTrustChain: true }) };
    const createPoolOptions = (connect: Connect) => ({
      factory: (url: URL, options: object) => new AgingClient(url, options, connect, clock),
      connections: maxConnections,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    });
    if (proxy === undefined) {
      const connect: Connect = (progress) => this.#record(this.#createConnector(tlsOptions, progress));
      return new Pool(origin, createPoolOptions(connect));
    }
    const connectToProxy: Connect = (progress) => this.#record(this.#createConnector({}, progress));
    const proxyOptions = createPoolOptions(connectToProxy);
    return new ProxyAgent({
      uri: proxy,
      // Sends plain http in absolute form: many proxies reject a tunnel to port 80.
      proxyTunnel: false,
      requestTls: { timeout, ...tlsOptions, ...TLS_OPTIONS },
      // For plain http, undici asks for a pool to the proxy itself, else for one whose `connect` tunnels.
      factory: (url, { connect, ...options }: Pool.Options) =>
        new Pool(url, {
          ...options,
          ...(String(url) === new URL(proxy).href
            ? proxyOptions
            : createPoolOptions((progress) => this.#record(noteTunnel(connect, progress)))),
        }),
      clientFactory: (url) => new TunnelPool(url, { ...proxyOptions, headersTimeout: timeout }),
    });
  }

  #findProxy(origin: string): string | undefined {
    if (this.#noProxy.includes(origin)) return undefined;
    const { httpProxy, httpsProxy } = this.#options.proxy;
    return origin.startsWith('https:') ? httpsProxy : httpProxy;
  }

  /** Connects to the addresses of a name one after the other; each has its part of the time. */
  #createConnector(tls: buildConnector.BuildOptions, progress: Progress): buildConnector.connector {
    const { timeoutMs, resolver } = this.#options;
    return (target, callback) => {
      progress.waitsFor = NO_ADDRESS;
      progress.addresses = [];
      const connect = (addresses: number): void => {
        if (this.#isClosed) throw new Error('The client is closed');
        const connector = buildConnector({
          timeout: timeoutMs,
          ...tls,
          ...TLS_OPTIONS,
          lookup: resolver.lookup,
          autoSelectFamilyAttemptTimeout: Math.max(MIN_ATTEMPT_MS, Math.floor(timeoutMs / addresses)),
        });
        // Undocumented: this connector returns its socket.
        // undici names a proxy by its address, too, which Node.js 26 rejects as a server name.
        const named = isIP(target.servername ?? '') === 0 ? target : { ...target, servername: '' };
        const socket: unknown = connector(named, (...result) => {
          const [error, connected] = result;
          if (error === null) {
            progress.waitsFor = NO_RESPONSE;
            resolver.noteConnected(target.hostname, connected.remoteAddress);
          } else resolver.noteFailed(target.hostname, ...findTriedAddresses(socket));
          callback(...result);
        });
        if (!(socket instanceof Socket)) return;
        this.#sockets.add(socket);
        socket.on('connectionAttempt', (address: string, port: number) => {
          progress.waitsFor = NO_CONNECTION;
          progress.addresses.push(formatHostPort(address, port));
        });
        // Not after the callback, without TLS.
        socket.prependOnceListener('connect', () => (progress.waitsFor = NO_HANDSHAKE));
        socket.once('close', () => {
          this.#sockets.delete(socket);
          const isUnanswered = socket.bytesWritten > 0 && socket.bytesRead === 0;
          if (isUnanswered) resolver.noteFailed(target.hostname, ...findTriedAddresses(socket));
        });
      };
      resolver
        .resolve(target.hostname)
        .then(({ length }) => connect(length))
        .catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null));
    };
  }

  #record(connect: buildConnector.connector): buildConnector.connector {
    const { observer } = this.#options;
    return (target, callback) => {
      observer?.onConnecting(target.host ?? '');
      connect(target, (...result) => {
        const [, socket] = result;
        if (socket instanceof Socket) observer?.onConnected(socket);
        if (socket instanceof TLSSocket) {
          limitKeyUpdates(socket);
          // In TLS 1.3, a server rejects a client after the handshake. Else undici would take the end that
          // follows the alert for the cause, because it listens later.
          socket.on('error', (error) => socket.destroy(error));
          const notAfterMs = this.#certificatePaths.findSoonestExpiryMs(socket.getPeerCertificate(true));
          this.#certificateNotAfterMs.set(`${target.protocol}//${target.host ?? ''}`, notAfterMs);
        }
        callback(...result);
      });
    };
  }
}

/** Connects through a proxy; the connector of undici asks it for a tunnel. */
function noteTunnel(connect: Pool.Options['connect'], progress: Progress): buildConnector.connector {
  if (typeof connect !== 'function') throw new TypeError('Expected a connector');
  return (target, callback) => {
    progress.waitsFor = NO_TUNNEL;
    connect(target, (...result) => {
      progress.waitsFor = NO_RESPONSE;
      callback(...result);
    });
  };
}

function toKey(origin: string, isFresh: boolean): string {
  return `${origin} ${isFresh}`;
}

/** The addresses of a name with several that a socket tried; the peer may have closed the socket. */
function findTriedAddresses(socket: unknown): readonly string[] {
  const tried = socket instanceof Socket ? socket.autoSelectFamilyAttemptedAddresses : undefined;
  return (tried ?? []).map((address) => address.replace(/:\d+$/, ''));
}

/** The error is no `reset`, so the request is not repeated. Only requests are written. */
function limitKeyUpdates(socket: TLSSocket): void {
  let keyUpdates = 0;
  let bytesWritten = 0;
  socket.on('keylog', () => {
    const hasNewRequest = socket.bytesWritten > bytesWritten;
    bytesWritten = socket.bytesWritten;
    keyUpdates = hasNewRequest ? 1 : keyUpdates + 1;
    if (keyUpdates > MAX_KEY_UPDATES)
      socket.destroy(new UpstreamError('tls', 'The service changes the TLS keys again and again'));
  });
}

/** Which client sends a request: none while all are in use. */
class ClientUse {
  client: AgingClient | undefined;
}

/** A connection that asks the service to close it with the first response after five minutes. */
class AgingClient extends Client {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly progress: Progress;
  #connectedMs = 0;

  constructor(origin: URL, options: Client.Options, connect: Connect, clock: Pick<Clock, 'monotonic'>) {
    const progress = { waitsFor: NO_ADDRESS, addresses: [] };
    super(origin, { ...options, connect: connect(progress) });
    this.progress = progress;
    this.#clock = clock;
    this.on('connect', () => {
      this.#connectedMs = clock.monotonic();
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if ('opaque' in options && options.opaque instanceof ClientUse) options.opaque.client = this;
    const isOld =
      this.stats.connected && this.#clock.monotonic() - this.#connectedMs >= MAX_CONNECTION_AGE_MS;
    return super.dispatch({ ...options, reset: options.reset === true || isOld }, handler);
  }
}

/**
 * If a proxy drops a `CONNECT`, undici takes its own `UND_ERR_SOCKET` for a failed request on a good
 * connection and reconnects forever. An error of another type prevents that.
 */
class TunnelPool extends Pool {
  readonly #proxy: string;

  constructor(proxy: URL, options: Pool.Options) {
    super(proxy, options);
    this.#proxy = proxy.origin;
  }

  override async connect(
    options: Omit<Dispatcher.ConnectOptions, 'origin'>,
  ): Promise<Dispatcher.ConnectData> {
    try {
      const data = await super.connect(options);
      if (data.statusCode === 200) return data;
      data.socket.on('error', () => undefined).destroy();
      throw createProxyStatusError(data.statusCode, this.#proxy, data.headers['proxy-authenticate']);
    } catch (error) {
      const failure = toUpstreamError(error, { proxy: this.#proxy });
      throw failure.reason === 'reset'
        ? new UpstreamError('connect', 'The proxy closed the connection', {
            cause: failure.cause,
            proxy: this.#proxy,
          })
        : failure;
    }
  }
}
