import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { isProbe, type WebRequest } from './request.ts';
import { respondText, type WebResponse } from './response.ts';
import { sendBody } from './send-body.ts';
import type { Authorizer } from './security/authorization.ts';
import type { WebConfiguration, WebConfigurationSource } from './security/web-configuration.ts';

/** How long a client may take to read a response, which stays in memory meanwhile. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** Responses that clients have not read yet; beyond this, new ones become a 503. At least one is always allowed. */
const MAX_PENDING_RESPONSE_BYTES = 128 * 1024 * 1024;
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

export interface RequestHandlerOptions {
  readonly handle: (request: WebRequest) => Promise<WebResponse>;
  /** Maximum number of authorized requests in progress; further ones get a 503, except probes. */
  readonly maxRequests: number;
  readonly webConfigurationSource: WebConfigurationSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Authorizes requests, limits their number, and sends the responses of the handler. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #authorizer: Authorizer;
  readonly #connections: { isCertificateRejected(socket: Socket): boolean };
  /** By connection; only connections with a request in progress have an entry. */
  readonly #waitingRequests = new WeakMap<Socket, Exchange[]>();
  #waitingRequestCount = 0;
  #activeRequests = 0;
  /** Number of unsent responses with the same body, which counts once. */
  readonly #bodyReaders = new Map<WebResponse['body'], number>();
  #pendingResponseBytes = 0;
  #isClosing = false;

  constructor(
    options: RequestHandlerOptions,
    authorizer: Authorizer,
    connections: { isCertificateRejected(socket: Socket): boolean },
  ) {
    this.#options = options;
    this.#authorizer = authorizer;
    this.#connections = connections;
  }

  /** Answers one request of a connection at a time, and closes connections that pipeline too many. */
  readonly handleRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    // Requests that the parser finds in the last chunk of a closed connection.
    if (socket.destroyed) return;
    const waiting = this.#waitingRequests.get(socket);
    if (waiting === undefined) {
      this.#waitingRequests.set(socket, []);
      this.#answer({ request, response });
    } else if (
      waiting.length >= MAX_WAITING_PER_CONNECTION ||
      this.#waitingRequestCount >= MAX_WAITING_REQUESTS
    ) {
      socket.destroy();
    } else {
      waiting.push({ request, response });
      this.#waitingRequestCount += 1;
    }
  };

  /** Makes further responses ask clients to close their connection. */
  announceClose(): void {
    this.#isClosing = true;
  }

  #answer({ request, response }: Exchange): void {
    const { method = 'GET', url = '/', headers, socket } = request;
    const closed = new AbortController();
    const finish = (): void => {
      response.off('close', finish);
      socket.off('close', finish);
      closed.abort(RESPONSE_CLOSED);
      this.#answerNext(socket);
    };
    // A response emits 'close' after its last byte. Not every Node.js version emits it when the connection is lost.
    response.once('close', finish);
    socket.once('close', finish);
    const scheme = socket instanceof TLSSocket ? 'https' : 'http';
    void this.#respond({ method, url, headers, scheme, signal: closed.signal }, response, closed.signal);
  }

  #answerNext(socket: Socket): void {
    const waiting = this.#waitingRequests.get(socket) ?? [];
    const next = socket.destroyed ? undefined : waiting.shift();
    if (next === undefined) {
      this.#waitingRequestCount -= waiting.length;
      this.#waitingRequests.delete(socket);
    } else {
      this.#waitingRequestCount -= 1;
      this.#answer(next);
    }
  }

  /** Never rejects. */
  async #respond(request: WebRequest, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const configuration = this.#options.webConfigurationSource.current;
    const send = (webResponse: WebResponse): void =>
      this.#send(webResponse, response, signal, configuration.headers);
    try {
      const rejection = await this.#authorizer.authorize(
        {
          url: request.url,
          authorization: request.headers.authorization,
          isCertificateRejected: this.#connections.isCertificateRejected(response.req.socket),
          signal,
        },
        configuration,
      );
      if (signal.aborted) return;
      const webResponse =
        rejection ??
        (await this.#dispatch(
          { ...request, isAuthenticated: requiresAuthentication(configuration) },
          signal,
        ));
      if (!signal.aborted) send(webResponse);
    } catch (err) {
      if (signal.aborted) return;
      this.#options.logger.error({ err, method: request.method, url: request.url }, 'Request failed');
      send(respondText(500, 'Internal server error.'));
    }
  }

  /** Rejected requests do not count against `maxRequests`. */
  async #dispatch(request: WebRequest, signal: AbortSignal): Promise<WebResponse> {
    this.#activeRequests += 1;
    onAbort(signal, () => (this.#activeRequests -= 1));
    if (this.#activeRequests > this.#options.maxRequests && !isProbe(request.url))
      return respondText(503, 'Too many concurrent requests.');
    const webResponse = await this.#options.handle(request);
    // An aborted signal emits no further event, so the bytes would stay counted.
    if (signal.aborted) return webResponse;
    const { body } = webResponse;
    const readers = this.#bodyReaders.get(body) ?? 0;
    const bytes = readers > 0 ? 0 : Buffer.byteLength(body);
    if (this.#pendingResponseBytes > 0 && this.#pendingResponseBytes + bytes > MAX_PENDING_RESPONSE_BYTES)
      return respondText(503, 'Too many slow clients.');
    this.#bodyReaders.set(body, readers + 1);
    this.#pendingResponseBytes += bytes;
    onAbort(signal, () => this.#releaseBody(body));
    return webResponse;
  }

  #releaseBody(body: WebResponse['body']): void {
    const readers = this.#bodyReaders.get(body) ?? 0;
    if (readers > 1) {
      this.#bodyReaders.set(body, readers - 1);
    } else {
      this.#bodyReaders.delete(body);
      this.#pendingResponseBytes -= Buffer.byteLength(body);
    }
  }

  /** Headers of the web configuration override those of the response. */
  #send(
    { status, headers, body }: WebResponse,
    response: ServerResponse,
    signal: AbortSignal,
    configuredHeaders: WebResponse['headers'],
  ): void {
    // The server does not read request bodies, so it cannot reuse the connection after one.
    if (this.#isClosing || hasBody(response.req)) response.setHeader('Connection', 'close');
    sendBody(response.writeHead(status, { ...headers, ...configuredHeaders }), body);
    this.#options.clock.sleep(RESPONSE_TIMEOUT_MS, signal).then(
      () => response.destroy(),
      () => undefined,
    );
  }
}

function onAbort(signal: AbortSignal, run: () => void): void {
  signal.addEventListener('abort', run, { once: true });
}

function requiresAuthentication({ users, tls }: WebConfiguration): boolean {
  return users.size > 0 || (tls !== undefined && tls.clientAuth.isRequired && tls.clientAuth.isVerified);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}
