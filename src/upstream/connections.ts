import { Socket, type LookupFunction } from 'node:net';
import { TLSSocket, type DetailedPeerCertificate, type PeerCertificate } from 'node:tls';
import { buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
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
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  /** Hosts to connect to directly, separated by commas or spaces: `host`, `.domain`, `host:port`, or `*` for all. */
  readonly noProxy?: string | undefined;
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
  /** Resolves the host names of services and proxies. Default: that of Node.js. */
  readonly lookup?: LookupFunction;
}

/**
 * Longer than the usual poll interval, so that polls do not need a TLS handshake each. A `Keep-Alive` header of the
 * server takes precedence.
 */
const KEEP_ALIVE_MS = 30_000;

/**
 * A connection that is never closed would show neither a new certificate nor a new address of the service. nginx closes
 * after as many requests by default.
 */
const MAX_REQUESTS_PER_CONNECTION = 1000;

/** A request whose signature is made when a connection is free for it: a service accepts signatures for a short time. */
export type UnsignedRequest = Dispatcher.RequestOptions & {
  readonly sign: () => Readonly<Record<string, string>>;
};

/** The connections of a client, opened on demand. Disposing closes all of them, those being opened included. */
export class Connections implements AsyncDisposable {
  readonly #dispatcher: Dispatcher;
  /** Its connections are closed after a request. */
  readonly #freshDispatcher: Dispatcher;
  /** Only these origins can have a kept-alive connection. */
  readonly originsWithResponse = new Set<string>();
  readonly #sockets = new Set<Socket>();
  readonly #certificateNotAfterMs = new Map<string, number>();

  constructor({ timeoutMs: timeout, maxConnections, tls, proxy, lookup }: ConnectionOptions) {
    const resolution = lookup === undefined ? {} : { lookup };
    const toPoolOptions = (inherited: object): Pool.Options => ({
      ...inherited,
      factory: (origin, options: object) => new SigningClient(origin, options),
      connections: maxConnections,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxRequestsPerClient: MAX_REQUESTS_PER_CONNECTION,
      ...('connect' in inherited &&
        isConnector(inherited.connect) && { connect: this.#record(inherited.connect) }),
    });
    const agentOptions: EnvHttpProxyAgent.Options = {
      // With undefined, undici would read the environment itself.
      httpProxy: proxy.httpProxy ?? '',
      httpsProxy: proxy.httpsProxy ?? '',
      noProxy: proxy.noProxy ?? '',
      // Sends plain http in absolute form: many proxies reject a tunnel to port 80.
      proxyTunnel: false,
      connect: buildConnector({ timeout, ...tls, ...resolution }),
      requestTls: { timeout, ...tls },
      proxyTls: { timeout, ...resolution },
      factory: (origin, inherited: object) => new Pool(origin, toPoolOptions(inherited)),
      clientFactory: (origin, inherited: object) =>
        new TunnelPool(origin, { ...toPoolOptions(inherited), headersTimeout: timeout }),
    };
    this.#dispatcher = new EnvHttpProxyAgent(agentOptions);
    this.#freshDispatcher = new EnvHttpProxyAgent(agentOptions);
  }

  /** Sends a request; with `isFresh`, on a connection of its own. */
  request(request: UnsignedRequest, isFresh: boolean): Promise<Dispatcher.ResponseData> {
    return isFresh
      ? this.#freshDispatcher.request({ ...request, reset: true })
      : this.#dispatcher.request(request);
  }

  /** Closes each connection when its request has ended. */
  async close(): Promise<void> {
    await Promise.all([this.#dispatcher.close(), this.#freshDispatcher.close()]);
  }

  /**
   * Returns the soonest expiry in the certificate chain of an origin, in milliseconds since the Unix epoch; `undefined`
   * before its first TLS connection.
   */
  getCertificateNotAfterMs(origin: string): number | undefined {
    return this.#certificateNotAfterMs.get(origin);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#dispatcher.destroy(), this.#freshDispatcher.destroy()]);
    // undici does not close sockets that are still connecting.
    for (const socket of this.#sockets) socket.destroy(new Error('The client is closed'));
  }

  /** Records the open sockets of a connector, and the certificates of their servers. */
  #record(connect: buildConnector.connector): buildConnector.connector {
    return (target, callback) => {
      // Undocumented: a direct connector returns its socket. Tunnels run inside such sockets.
      const opening: unknown = connect(target, (...result) => {
        const [, socket] = result;
        // A resumed session has the certificate of the server, but not the whole chain.
        if (socket instanceof TLSSocket && !socket.isSessionReused()) {
          const notAfterMs = findSoonestExpiryMs(socket.getPeerCertificate(true));
          this.#certificateNotAfterMs.set(`${target.protocol}//${target.host ?? ''}`, notAfterMs);
        }
        callback(...result);
      });
      if (opening instanceof Socket) {
        this.#sockets.add(opening);
        opening.once('close', () => this.#sockets.delete(opening));
      }
    };
  }
}

/** A connection. The pool passes it a request only when it is free. */
class SigningClient extends Client {
  override dispatch(
    options: Dispatcher.DispatchOptions & Partial<UnsignedRequest>,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { sign, ...request } = options;
    return super.dispatch(
      sign === undefined ? request : { ...request, headers: { ...request.headers, ...sign() } },
      handler,
    );
  }
}

function isConnector(value: unknown): value is buildConnector.connector {
  return typeof value === 'function';
}

/** The last certificate of a chain is its own issuer, or has none if the chain is incomplete. */
function findSoonestExpiryMs(certificate: PeerCertificate & Partial<DetailedPeerCertificate>): number {
  const { valid_to: validTo, fingerprint256, issuerCertificate: issuer } = certificate;
  const expiryMs = Date.parse(validTo);
  return issuer === undefined || issuer.fingerprint256 === fingerprint256
    ? expiryMs
    : Math.min(expiryMs, findSoonestExpiryMs(issuer));
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
