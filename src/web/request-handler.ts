import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { WebMetrics } from '../metrics/web-metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Connections } from './connections.ts';
import { UnreadResponses } from './unread-responses.ts';
import { isProbe, type WebRequest } from './request.ts';
import { respondText, type WebResponse } from './response.ts';
import { sendBody } from './send-body.ts';
import type { Authorizer } from './security/authorization.ts';
import type { WebConfiguration, WebConfigurationSource } from './security/web-configuration.ts';

/** How long a client may take to read a response, which stays in memory meanwhile. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** Responses that clients have not read yet; beyond this, the slowest clients are disconnected. */
const MAX_UNREAD_RESPONSE_BYTES = 128 * 1024 * 1024;
/** Pipelined requests that wait for earlier ones of their connection. Scrapers and browsers do not pipeline. */
const MAX_WAITING_PER_CONNECTION = 64;
const MAX_WAITING_REQUESTS = 1024;

/** Created once: the default reason is an error with a stack, which takes a fifteenth of a small scrape. */
const RESPONSE_CLOSED = new Error('The response has ended');

/** A request with its unsent response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A connection with a request in progress. */
interface ActiveConnection {
  readonly socket: Socket;
  readonly connections: Connections;
  /** Pipelined requests, which the server has read together with the one in progress. */
  readonly waiting: Exchange[];
  /** Whether the connection ends after the response in progress. */
  isClosing: boolean;
}

export interface RequestHandlerOptions {
  readonly handle: (request: WebRequest) => Promise<WebResponse>;
  /** Maximum number of authorized requests whose response is being created; further ones get a 503, except probes. */
  readonly maxRequests: number;
  readonly webConfigurationSource: WebConfigurationSource;
  readonly metrics: WebMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Authorizes requests, limits their number, and sends the responses of the handler. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #authorizer: Authorizer;
  readonly #certificates: { isCertificateRejected(socket: Socket): boolean };
  readonly #active = new WeakMap<Socket, ActiveConnection>();
  readonly #unreadResponses = new UnreadResponses(MAX_UNREAD_RESPONSE_BYTES);
  #waitingRequestCount = 0;
  #handlingCount = 0;
  #isShuttingDown = false;

  constructor(
    options: RequestHandlerOptions,
    authorizer: Authorizer,
    certificates: { isCertificateRejected(socket: Socket): boolean },
  ) {
    this.#options = options;
    this.#authorizer = authorizer;
    this.#certificates = certificates;
  }

  /** Answers one request of a connection at a time. Stops reading while others wait, and closes it if too many do. */
  handleRequest(request: IncomingMessage, response: ServerResponse, connections: Connections): void {
    const { socket } = request;
    // Requests that the parser finds in the last chunk of a closed connection.
    if (socket.destroyed) return;
    const active = this.#active.get(socket);
    if (active === undefined) {
      const started = { socket, connections, waiting: [], isClosing: false };
      this.#active.set(socket, started);
      this.#answer({ request, response }, started);
    } else if (!active.isClosing) {
      this.#wait({ request, response }, active);
    }
  }

  /** Makes further responses ask clients to close their connection. */
  announceShutdown(): void {
    this.#isShuttingDown = true;
  }

  #wait(exchange: Exchange, { socket, waiting }: ActiveConnection): void {
    if (waiting.length >= MAX_WAITING_PER_CONNECTION || this.#waitingRequestCount >= MAX_WAITING_REQUESTS) {
      this.#options.metrics.recordConnectionClosed('pipelining');
      socket.destroy();
      return;
    }
    waiting.push(exchange);
    this.#waitingRequestCount += 1;
    // Later: Node.js resumes the socket when it has parsed this request. Only for pipelined requests: a paused socket does
    // not notice that the client disconnects.
    if (waiting.length === 1) process.nextTick(() => socket.pause());
  }

  #answer({ request, response }: Exchange, active: ActiveConnection): void {
    const { socket, connections } = active;
    const { method = 'GET', url = '/', headers } = request;
    const closed = new AbortController();
    const finish = (): void => {
      response.off('close', finish);
      socket.off('close', finish);
      closed.abort(RESPONSE_CLOSED);
      connections.setBusy(socket, false);
      this.#answerNext(active);
    };
    // A response emits 'close' after its last byte. Not every Node.js version emits it when the connection is lost.
    response.once('close', finish);
    socket.once('close', finish);
    const scheme = socket instanceof TLSSocket ? 'https' : 'http';
    void this.#respond(
      { method, url, headers, scheme, signal: closed.signal },
      response,
      closed.signal,
      active,
    );
  }

  #answerNext(active: ActiveConnection): void {
    const { socket, waiting, isClosing } = active;
    const next = socket.destroyed || isClosing ? undefined : waiting.shift();
    if (next === undefined) {
      this.#waitingRequestCount -= waiting.length;
      waiting.length = 0;
      if (isClosing) return;
      this.#active.delete(socket);
      socket.resume();
    } else {
      this.#waitingRequestCount -= 1;
      this.#answer(next, active);
    }
  }

  /** Never rejects. */
  async #respond(
    request: WebRequest,
    response: ServerResponse,
    signal: AbortSignal,
    active: ActiveConnection,
  ): Promise<void> {
    const configuration = this.#options.webConfigurationSource.current;
    const send = (webResponse: WebResponse): void =>
      this.#send(webResponse, response, signal, active, configuration.headers);
    try {
      // It frees the place that is reserved for the next probe.
      if (active.connections.isOverLimit(active.socket)) active.isClosing = true;
      const rejection = await this.#reject(request, signal, active, configuration);
      if (signal.aborted) return;
      if (rejection !== undefined) {
        active.isClosing = true;
        send(rejection);
        return;
      }
      active.connections.setBusy(active.socket, true);
      const isAuthenticated = requiresAuthentication(configuration);
      const webResponse = await this.#dispatch({ ...request, isAuthenticated });
      if (!signal.aborted) send(webResponse);
    } catch (err) {
      if (signal.aborted) return;
      this.#options.logger.error({ err, method: request.method, url: request.url }, 'Request failed');
      send(respondText(500, 'Internal server error.'));
    }
  }

  /** Returns the response that rejects a request and closes its connection; `undefined` if it is authorized. */
  async #reject(
    { url, headers: { authorization } }: WebRequest,
    signal: AbortSignal,
    { socket, connections }: ActiveConnection,
    configuration: WebConfiguration,
  ): Promise<WebResponse | undefined> {
    if (connections.isOverLimit(socket) && !isProbe(url)) {
      this.#options.metrics.recordRequestRejected('max_connections');
      return respondText(503, 'Too many connections.');
    }
    const client = connections.clientOf(socket);
    const isCertificateRejected = this.#certificates.isCertificateRejected(socket);
    return await this.#authorizer.authorize(
      { url, authorization, isCertificateRejected, client, signal },
      configuration,
    );
  }

  /** Rejected requests do not count against `maxRequests`, nor do responses that clients are reading. */
  async #dispatch(request: WebRequest): Promise<WebResponse> {
    if (this.#handlingCount >= this.#options.maxRequests && !isProbe(request.url)) {
      this.#options.metrics.recordRequestRejected('max_requests');
      return respondText(503, 'Too many concurrent requests.');
    }
    this.#handlingCount += 1;
    try {
      return await this.#options.handle(request);
    } finally {
      this.#handlingCount -= 1;
    }
  }

  /** Headers of the web configuration override those of the response. */
  #send(
    { status, headers, body }: WebResponse,
    response: ServerResponse,
    signal: AbortSignal,
    active: ActiveConnection,
    configuredHeaders: WebResponse['headers'],
  ): void {
    // The server does not read request bodies, so it cannot reuse the connection after one.
    if (this.#isShuttingDown || hasBody(response.req)) active.isClosing = true;
    if (active.isClosing) response.setHeader('Connection', 'close');
    sendBody(response.writeHead(status, { ...headers, ...configuredHeaders }), body);
    const close = (): void => {
      this.#options.metrics.recordConnectionClosed('slow_client');
      response.destroy();
    };
    const client = active.connections.clientOf(active.socket);
    const remove = this.#unreadResponses.add({ client, body, close });
    signal.addEventListener('abort', remove, { once: true });
    this.#options.clock.sleep(RESPONSE_TIMEOUT_MS, signal).then(close, () => undefined);
  }
}

function requiresAuthentication({ users, tls }: WebConfiguration): boolean {
  return users.size > 0 || (tls !== undefined && tls.clientAuth.isRequired && tls.clientAuth.isVerified);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}
