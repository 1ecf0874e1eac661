import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { linkAbort, raceAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { TurnGate } from './turn-gate.ts';
import { type ConnectionOptions, UpstreamConnections } from './connections.ts';
import { ACCEPTED_CODINGS, decompress, parseContentEncoding, skipByteOrderMark } from './decoding.ts';
import { createUnaskedStatusError, toUpstreamError } from './error-classification.ts';
import { UpstreamError } from './errors.ts';
import { redactRequest, type RequestObserver, type ResponseHead } from './request-observer.ts';
import { Resolver, type ResolverOptions } from './resolver.ts';
import { readResponseTimes } from './response-headers.ts';
import { buildListingAddress, signRequest, type ListingAddress, type SigningScheme } from './signing.ts';

/** Enough of an error response for a `ret` or for an error page. */
const MAX_EXCERPT_BYTES = 64 * 1024;

/** With as many, of which the interface has none, a poll fails: they take time of the event loop. */
const MAX_INFORMATIONAL_RESPONSES = 5;

/** They answer no request: the connection was idle for too long, or does not serve this host. */
const CONNECTION_STATUSES = [408, 421];

export interface ClientOptions extends Omit<ConnectionOptions, 'resolver' | 'clock'> {
  readonly maxResponseBytes: number;
  readonly userAgent: string;
}

export interface ListingTarget {
  readonly serviceCode: string;
  /** Absolute http or https URL; the path of the operation is appended. */
  readonly baseUrl: string;
  readonly secret: string;
  readonly signing: SigningScheme;
  /** For the whole request: connecting, response and retry. */
  readonly timeoutMs: number;
}

/** Receives the decoded chunks of a body as they arrive, after the observer has received the head. */
export type BodyConsumer = (chunk: Uint8Array) => void;

interface Received {
  readonly head: ResponseHead;
  readonly body: Readable;
}

/** Requests listings from the service ("task_list" of the interface), for all service codes. */
export class UpstreamClient implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #gate: TurnGate;
  readonly #resolver: Resolver;
  #options: ClientOptions;
  #connections: UpstreamConnections;
  /** Those of earlier options included, until their requests have ended. */
  readonly #openConnections = new Set<UpstreamConnections>();

  constructor({ clock, lookup, ...options }: ClientOptions & ResolverOptions & { readonly clock: Clock }) {
    this.#clock = clock;
    this.#resolver = new Resolver({ clock, lookup });
    this.#gate = new TurnGate();
    this.#options = options;
    this.#connections = this.#open(options);
  }

  /** Replaces the options. Requests in progress keep those that they started with, and their connections. */
  configure(options: ClientOptions): void {
    const replaced = this.#connections;
    void replaced.close().finally(() => this.#openConnections.delete(replaced));
    this.#options = options;
    this.#connections = this.#open(options);
  }

  /**
   * Requests a listing and passes its decoded body to `onBody` as it arrives, of an error response at most
   * 64 KiB. Follows no redirects. Resolves for every HTTP status. Rejects with an UpstreamError, what
   * `onBody` throws, or the reason of the signal, which needs `setMaxListeners` for more than ten requests.
   */
  async requestListing(
    target: ListingTarget,
    onBody: BodyConsumer,
    signal: AbortSignal,
    observer?: RequestObserver,
  ): Promise<ResponseHead> {
    signal.throwIfAborted();
    const { maxResponseBytes } = this.#options;
    using abort = linkAbort(signal);
    const { timeoutMs } = target;
    const timeout = `The response did not end within ${timeoutMs / 1000}s`;
    this.#clock.sleep(timeoutMs, abort.signal).then(
      () => abort.abort(new UpstreamError('timeout', timeout)),
      () => undefined,
    );
    const received = await this.#send(target, abort.signal, observer);
    const { status } = received.head;
    let consumerError: unknown;
    const pass = async (chunk: Buffer): Promise<void> => {
      await this.#gate.run(() => {
        abort.signal.throwIfAborted();
        try {
          onBody(chunk);
        } catch (error) {
          consumerError = error;
          throw error;
        }
      });
    };
    await this.#readBody(received, maxResponseBytes, pass, observer).catch((error: unknown) => {
      if (error === consumerError) throw error;
      // The body of an error response ends where it fails, so that its status is still known.
      if (isSuccessStatus(status))
        throw abort.signal.aborted ? abort.signal.reason : toUpstreamError(error, { hasHeaders: true });
    });
    signal.throwIfAborted();
    return received.head;
  }

  /** Aborts requests in progress and closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#openConnections].map((connections) => connections[Symbol.asyncDispose]()));
  }

  #open(options: ClientOptions): UpstreamConnections {
    const connections = new UpstreamConnections({
      ...options,
      resolver: this.#resolver,
      clock: this.#clock,
    });
    this.#openConnections.add(connections);
    return connections;
  }

  /** A server may give up an idle connection just as a request is sent, which is retried once, afresh. */
  async #send(
    target: ListingTarget,
    signal: AbortSignal,
    observer: RequestObserver | undefined,
  ): Promise<Received> {
    const address = buildListingAddress(target.baseUrl, target.serviceCode);
    const connections = this.#connections;
    const dispatcher = connections.getDispatcher(address.origin);
    const hadResponse = connections.originsWithResponse.has(address.origin);
    try {
      const received = await this.#attempt(target, address, signal, observer);
      if (!hadResponse || !CONNECTION_STATUSES.includes(received.head.status)) return received;
      received.body.on('error', () => undefined).destroy();
    } catch (error) {
      const reason = error instanceof UpstreamError ? error.reason : undefined;
      // Something on the way may have forgotten all connections to the origin that were open.
      if (reason === 'timeout' && hadResponse) connections.drop(address.origin, dispatcher);
      if (reason !== 'reset' || !this.#connections.originsWithResponse.has(address.origin)) throw error;
    }
    return await this.#attempt(target, address, signal, observer, true);
  }

  async #attempt(
    target: ListingTarget,
    address: ListingAddress,
    signal: AbortSignal,
    observer: RequestObserver | undefined,
    isFresh = false,
  ): Promise<Received> {
    const connections = this.#connections;
    const { origin, url } = address;
    const headers = {
      accept: 'application/json',
      'cache-control': 'no-cache',
      'accept-encoding': ACCEPTED_CODINGS,
      'user-agent': this.#options.userAgent,
    };
    const requestMs = this.#clock.now();
    // When the request is sent, its signature is at most as old as the deadline of the poll.
    const signature = signRequest(target.signing, target.secret, address, requestMs);
    observer?.onRequest?.(
      redactRequest(target.secret, target.signing, address, { ...headers, ...signature }),
    );
    let informationalResponses = 0;
    const request: Dispatcher.RequestOptions = {
      origin,
      path: url.slice(origin.length),
      method: 'GET',
      headers: { ...headers, ...signature },
      signal,
      onInfo: () => {
        informationalResponses += 1;
        if (informationalResponses === MAX_INFORMATIONAL_RESPONSES)
          throw createUnaskedStatusError(`${informationalResponses} of status 1xx`);
      },
      // The deadline of the poll is the only one.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const exchange = connections.request(request, isFresh);
    // undici cannot cancel a request while it connects.
    const received = await raceAbort(exchange.response, signal).catch((error: unknown) => {
      if (!signal.aborted) throw exchange.toError(error);
      const isTimeout = signal.reason instanceof UpstreamError;
      throw isTimeout ? exchange.toTimeoutError(target.timeoutMs) : signal.reason;
    });
    connections.originsWithResponse.add(origin);
    const { statusCode: status, body } = received;
    const header = (name: string): string | undefined => {
      const value = received.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    };
    const times = readResponseTimes(header, requestMs, this.#clock.now());
    const certificateNotAfterMs = connections.getCertificateNotAfterMs(origin);
    const { viaProxy } = exchange;
    const head = { status, ...times, certificateNotAfterMs, viaProxy, header };
    observer?.onResponse(head);
    return { head, body };
  }

  /** Passes the decoded body of a response on; of an error response, at most an excerpt. */
  async #readBody(
    { head: { status, header }, body }: Received,
    maxBytes: number,
    pass: (chunk: Buffer) => Promise<void>,
    observer: RequestObserver | undefined,
  ): Promise<void> {
    const isExcerpt = !isSuccessStatus(status);
    const limit = isExcerpt ? MAX_EXCERPT_BYTES : maxBytes;
    const raw: AsyncIterable<Buffer> = body;
    let bytes = 0;
    let start: Buffer = Buffer.alloc(0);
    try {
      const coding = parseContentEncoding(header('content-encoding') ?? '');
      const isTooLarge = coding === undefined && Number(header('content-length') ?? 0) > limit;
      if (isTooLarge && !isExcerpt) throw createSizeError(limit);
      const onBytes = (size: number): void => observer?.onBodyBytes?.(size);
      for await (const chunk of coding === undefined ? raw : decompress(raw, coding, this.#gate, onBytes)) {
        if (coding === undefined) onBytes(chunk.length);
        if (bytes === 0) start = start.length === 0 ? chunk : Buffer.concat([start, chunk]);
        const text = bytes === 0 ? skipByteOrderMark(start) : chunk;
        const part = isExcerpt ? text.subarray(0, limit - bytes) : text;
        bytes += part.length;
        if (bytes > limit) throw createSizeError(limit);
        await pass(part);
        if (isExcerpt && bytes === limit) break;
      }
    } finally {
      // Closes the connection unless the body was read to its end.
      body.on('error', () => undefined).destroy();
    }
  }
}

function createSizeError(maxBytes: number): UpstreamError {
  return new UpstreamError('too_large', `The response is larger than ${maxBytes} bytes`);
}

/** A response with status 206 has a part of a listing, which nothing asked for. */
export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status <= 299 && status !== 206;
}
