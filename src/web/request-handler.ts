import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../runtime/clock.ts';
import { MAX_RESPONSES_BEING_CREATED } from '../runtime/limits.ts';
import type { Connection, Connections } from './connections.ts';
import { isProbe, respondText, useOriginForm, type WebRequest, type WebResponse } from './http-messages.ts';
import { QueueFullError, RequestQueue } from './request-queue.ts';
import { createAuthorizer, type AuthorizerOptions, type Authorize } from './security/authorization.ts';
import type { WebConfiguration } from './security/web-configuration-file.ts';
import type { WebConfigurationSource } from './security/web-configuration.ts';

/** Sent one by one: TLS copies what it is given, so slow clients would hold copies of a shared body. */
const SLICE_BYTES = 256 * 1024;

/** Created once: the default reason is an error with a stack, which takes a fifteenth of a small scrape. */
const RESPONSE_CLOSED = new Error('The response has ended');

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  /** Of the Unix socket that the request came through. */
  readonly socketPath: string | undefined;
  /** Aborts when the response has been read or the client disconnects. */
  readonly signal: AbortSignal;
}

export interface RequestHandlerOptions extends AuthorizerOptions {
  readonly handle: (request: WebRequest) => Promise<WebResponse>;
  /** Maximum number of authorized requests that wait until it is their turn; one more gets a 503. */
  readonly maxRequests: number;
  readonly webConfigurationSource: WebConfigurationSource;
  readonly clock: Clock;
}

/** Authorizes requests, creates a few responses at a time, and sends them. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #connections: Connections;
  readonly #authorize: Authorize;
  readonly #responses: RequestQueue;
  /** Makes further responses ask clients to close their connection. */
  isShuttingDown = false;

  constructor(options: RequestHandlerOptions, connections: Connections) {
    this.#options = options;
    this.#connections = connections;
    this.#authorize = createAuthorizer(options);
    const { maxRequests } = options;
    this.#responses = new RequestQueue({ maxRunning: MAX_RESPONSES_BEING_CREATED, maxWaiting: maxRequests });
  }

  /** Answers one request of a connection at a time. No browser or scraper pipelines: a second one ends it. */
  handleRequest(request: IncomingMessage, response: ServerResponse, socketPath?: string): void {
    const { socket } = request;
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    if (connection.hasRequest) {
      this.#connections.close(connection, 'pipelining');
      return;
    }
    connection.hasRequest = true;
    const closed = new AbortController();
    const finish = (): void => {
      response.off('close', finish);
      socket.off('close', finish);
      closed.abort(RESPONSE_CLOSED);
      this.#connections.finishRequest(connection);
    };
    // Emitted after the last byte, but not by every Node.js version when the connection is lost.
    response.once('close', finish);
    socket.once('close', finish);
    const exchange = { request, response, connection, socketPath, signal: closed.signal };
    void this.#createResponse(exchange).then((webResponse) => {
      if (!closed.signal.aborted) this.#send(webResponse, exchange);
    });
  }

  /** After the client has disconnected, the response is any. */
  async #createResponse(exchange: Exchange): Promise<WebResponse> {
    const { request, connection, signal, socketPath } = exchange;
    const { webConfigurationSource, metrics, logger } = this.#options;
    useOriginForm(request);
    const { method = 'GET', url = '/', headers, headersDistinct, socket } = request;
    try {
      const configuration = webConfigurationSource.current;
      // RFC 9112, 3.2: a proxy may have looked at the other one.
      const hostCount = headersDistinct['host']?.length ?? 0;
      if (hostCount > 1) return closeAfter(respondText(400, `Expected one Host header, found ${hostCount}.`));
      const rejection = await this.#authorize(request, connection, configuration.users);
      if (rejection !== undefined) return closeAfter(rejection);
      connection.isBusy = true;
      const create = async (): Promise<WebResponse> => {
        signal.throwIfAborted();
        const scheme = socket instanceof TLSSocket ? 'https' : 'http';
        const isAuthenticated = requiresAuthentication(configuration);
        const webRequest = { method, url, headers, scheme, isAuthenticated, signal, socketPath } as const;
        return await this.#options.handle(webRequest);
      };
      // Bodies take time and memory. Probes and reloads have none.
      const isQueued = method !== 'POST' && !isProbe(url);
      return await (isQueued ? this.#responses.run(connection.client, create) : create());
    } catch (err) {
      if (err instanceof QueueFullError) {
        metrics.recordRequestRejected('max_requests');
        return respondText(503, 'Too many concurrent requests.', { 'Retry-After': '1' });
      }
      if (!signal.aborted) logger.error({ err, method, url }, 'Request failed');
      return respondText(500, 'Internal server error.');
    }
  }

  /** Headers of the web configuration override those of the response. */
  #send({ status, headers, body }: WebResponse, { request, response, connection }: Exchange): void {
    const { webConfigurationSource, clock } = this.#options;
    // The server does not read request bodies, so it cannot reuse the connection after one.
    if (this.isShuttingDown || hasBody(request)) response.setHeader('Connection', 'close');
    response.writeHead(status, { ...headers, ...webConfigurationSource.current.headers });
    sendBody(response, this.#connections.startReading(connection, body, clock.monotonic()));
  }
}

function closeAfter(response: WebResponse): WebResponse {
  return { ...response, headers: { ...response.headers, Connection: 'close' } };
}

function sendBody(response: ServerResponse, body: Buffer): void {
  if (body.length <= SLICE_BYTES) response.end(body);
  // Fails only if the client disconnects, which the response reports too.
  else pipeline(Readable.from(slice(body), { objectMode: false }), response, () => undefined);
}

function* slice(body: Buffer): Generator<Buffer, void, undefined> {
  for (let start = 0; start < body.length; start += SLICE_BYTES)
    yield body.subarray(start, start + SLICE_BYTES);
}

function requiresAuthentication({ users, tls }: WebConfiguration): boolean {
  return users.size > 0 || (tls !== undefined && tls.clientAuth.isRequired && tls.clientAuth.isVerified);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}
