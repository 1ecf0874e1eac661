import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { type ConnectionOptions, Connections } from './connections.ts';
import { ACCEPTED_CODINGS, BodyDecoder, type BodyListener } from './decoding.ts';
import type { DecodingBudget, DecodingShare } from './decoding-budget.ts';
import { toUpstreamError } from './error-classification.ts';
import { UpstreamError } from './errors.ts';
import { redactRequest, type RequestObserver } from './request-observer.ts';
import { estimateClockOffset, parseRetryAfter } from './response-headers.ts';
import { buildListingAddress, signRequest, type ListingAddress, type SigningScheme } from './signing.ts';

/** Enough of an error response for a `ret` or for an error page. */
const MAX_EXCERPT_BYTES = 64 * 1024;

/** One shared reason: an error with a stack of its own costs more than the rest of an abort. */
const ENDED = new Error('The request has ended');

/** Options for all service codes. */
export interface ClientOptions extends ConnectionOptions {
  /** Limit of a decoded body. */
  readonly maxResponseBytes: number;
  /** Shared with other clients: those that a reload has replaced. */
  readonly decodingBudget: DecodingBudget;
  readonly userAgent: string;
}

/** A service code and how to request its listing. */
export interface ListingTarget {
  readonly serviceCode: string;
  /** Absolute http or https URL; the path of the operation is appended. */
  readonly baseUrl: string;
  readonly secret: string;
  readonly signing: SigningScheme;
  /** For the whole request: connecting, response and retry. */
  readonly timeoutMs: number;
}

/** A response whose body has been passed to the consumer. */
export interface ListingResponse {
  readonly status: number;
  /** The delay that the service requested with `Retry-After`. */
  readonly retryAfterMs?: number;
}

/** Receives the decoded chunks of a body as they arrive, with the HTTP status of the response. */
export type BodyConsumer = (chunk: Uint8Array, status: number) => void;

type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Requests listings from the service ("task_list" of the interface), for all service codes. */
export class UpstreamClient implements AsyncDisposable {
  readonly #clock: Clock;
  #options: ClientOptions;
  #connections: Connections;
  /** Those of earlier options included, until their requests have ended. */
  readonly #openConnections = new Set<Connections>();

  constructor({ clock, ...options }: ClientOptions & { readonly clock: Clock }) {
    this.#clock = clock;
    this.#options = options;
    this.#connections = this.#open(options);
  }

  /** Replaces the options. Requests in progress keep those that they started with, and their connections. */
  configure(options: ClientOptions): void {
    const replaced = this.#connections;
    // Closes each connection when its request has ended.
    void replaced.dispatcher.close().finally(() => this.#openConnections.delete(replaced));
    this.#options = options;
    this.#connections = this.#open(options);
  }

  /**
   * Requests a listing and passes its decoded body to `onBody` as it arrives.
   *
   * Resolves for every HTTP status and does not follow redirects. `onBody` receives at most the first 64 KiB of a
   * response other than 2xx, or of a 206, and a body that fails there is cut off, so that the status is still returned.
   *
   * @param onBody - an error that it throws ends the request and is rethrown unchanged
   * @param signal - rejects the request with the signal's reason. Call `setMaxListeners` on a signal that more than ten
   *   concurrent requests share, or Node.js warns of a leak.
   * @param observer - receives requests, response heads and byte counts
   * @throws UpstreamError `timeout`, `dns`, `connect`, `tls`, `reset`, `too_large`, or `not_json` if the body cannot be
   *   decoded.
   */
  async requestListing(
    target: ListingTarget,
    onBody: BodyConsumer,
    signal: AbortSignal,
    observer?: RequestObserver,
  ): Promise<ListingResponse> {
    signal.throwIfAborted();
    return await new Promise((resolve, reject) => {
      new Exchange({
        target,
        onBody,
        signal,
        observer,
        resolve,
        reject,
        options: this.#options,
        clock: this.#clock,
        connections: this.#connections,
      }).send();
    });
  }

  /** Aborts requests in progress and closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#openConnections].map((connections) => connections[Symbol.asyncDispose]()));
  }

  #open(options: ClientOptions): Connections {
    const connections = new Connections(options);
    this.#openConnections.add(connections);
    return connections;
  }
}

interface ExchangeContext {
  readonly target: ListingTarget;
  readonly onBody: BodyConsumer;
  readonly signal: AbortSignal;
  readonly observer: RequestObserver | undefined;
  readonly resolve: (response: ListingResponse) => void;
  readonly reject: (error: unknown) => void;
  readonly options: ClientOptions;
  readonly clock: Clock;
  readonly connections: Connections;
}

/**
 * A request with its retry, and the response: undici calls it for each event, without streams in between. It ends once, with
 * the first of response, failure, deadline and abort, and ignores what arrives afterwards.
 */
class Exchange implements Dispatcher.DispatchHandler, BodyListener {
  readonly #context: ExchangeContext;
  readonly #address: ListingAddress;
  readonly #deadline: NodeJS.Timeout;
  readonly #share: DecodingShare;
  #requestMs = 0;
  #hasRetried = false;
  #controller: Dispatcher.DispatchController | undefined;
  /** Set when the head of the response has arrived. */
  #response: ListingResponse | undefined;
  #decoder: BodyDecoder | undefined;
  #bytes = 0;
  #hasEnded = false;

  constructor(context: ExchangeContext) {
    const { target, signal, options } = context;
    this.#context = context;
    this.#address = buildListingAddress(target.baseUrl, target.serviceCode);
    this.#share = options.decodingBudget.start((error) => this.#fail(error));
    this.#deadline = setTimeout(
      () => this.#fail(new UpstreamError('timeout', 'The poll exceeded its timeout')),
      target.timeoutMs,
    );
    signal.addEventListener('abort', this.#abort);
  }

  /** Signs and sends the request. */
  send(): void {
    const { target, observer, options, clock, connections } = this.#context;
    const { origin, url } = this.#address;
    this.#requestMs = clock.now();
    const headers = {
      accept: 'application/json',
      'accept-encoding': ACCEPTED_CODINGS,
      'user-agent': options.userAgent,
      ...signRequest(target.signing, target.secret, this.#address, this.#requestMs),
    };
    observer?.onRequest?.(redactRequest(target, this.#address, headers));
    const path = url.slice(origin.length);
    // The deadline of the poll is the only one.
    const request = { origin, path, method: 'GET', headers, headersTimeout: 0, bodyTimeout: 0 } as const;
    connections.dispatcher.dispatch(request, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici cannot cancel a request while it connects.
    if (this.#hasEnded) controller.abort(ENDED);
    this.#controller = controller;
  }

  onResponseStart(_controller: unknown, status: number, headers: HttpHeaders): void {
    // Of an informational response follows another one.
    if (this.#hasEnded || status < 200) return;
    const { observer, clock, connections, options } = this.#context;
    const { origin } = this.#address;
    const nowMs = clock.now();
    const header = (name: string): string | undefined => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    };
    connections.originsWithResponse.add(origin);
    observer?.onResponse({
      status,
      clockOffset: estimateClockOffset(header('date'), this.#requestMs, nowMs),
      certificateNotAfterMs: connections.getCertificateNotAfterMs(origin),
      header,
    });
    const retryAfterMs = parseRetryAfter(header('retry-after'), nowMs);
    this.#response = retryAfterMs === undefined ? { status } : { status, retryAfterMs };
    try {
      this.#decoder = new BodyDecoder(header('content-encoding') ?? '', this);
    } catch (error) {
      this.#fail(error);
      return;
    }
    // The limit applies to the decoded body.
    const isPlain = isSuccessStatus(status) && !this.#decoder.isCompressed;
    if (isPlain && Number(header('content-length') ?? 0) > options.maxResponseBytes) this.#failAsTooLarge();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#hasEnded) return;
    this.#context.observer?.onBodyBytes(chunk.length);
    if (this.#decoder?.write(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    if (!this.#hasEnded) this.#decoder?.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#fail(error);
  }

  onDecoded(bytes: number): void {
    this.#context.options.decodingBudget.add(this.#share, bytes);
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#hasEnded || this.#response === undefined) return;
    const { onBody, options, reject } = this.#context;
    const { status } = this.#response;
    const isExcerpt = !isSuccessStatus(status);
    const part = isExcerpt ? chunk.subarray(0, MAX_EXCERPT_BYTES - this.#bytes) : chunk;
    this.#bytes += part.length;
    if (!isExcerpt && this.#bytes > options.maxResponseBytes) {
      this.#failAsTooLarge();
      return;
    }
    try {
      onBody(part, status);
    } catch (error) {
      this.#end(() => reject(error));
    }
    if (isExcerpt && this.#bytes === MAX_EXCERPT_BYTES) this.onBodyEnd();
  }

  onBodyEnd(): void {
    const { resolve } = this.#context;
    const response = this.#response;
    if (response !== undefined) this.#end(() => resolve(response));
  }

  onBodyError(error: unknown): void {
    this.#fail(error);
  }

  onDrain(): void {
    this.#controller?.resume();
  }

  readonly #abort = (): void => {
    const { signal, reject } = this.#context;
    this.#end(() => reject(signal.reason));
  };

  #failAsTooLarge(): void {
    const { maxResponseBytes } = this.#context.options;
    this.#fail(new UpstreamError('too_large', `The response is larger than ${maxResponseBytes} bytes`));
  }

  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    const failure = toUpstreamError(error);
    if (this.#response !== undefined && !isSuccessStatus(this.#response.status)) this.onBodyEnd();
    else if (this.#canRetryAfter(failure)) {
      this.#hasRetried = true;
      this.send();
    } else this.#end(() => this.#context.reject(failure));
  }

  /**
   * A reset is retried once, with a new signature, if the connection may have been a kept-alive one: a server may close it
   * just as a request is sent, which is not a failure of the service.
   */
  #canRetryAfter({ reason }: UpstreamError): boolean {
    const isFirst = !this.#hasRetried && this.#response === undefined;
    return (
      isFirst && reason === 'reset' && this.#context.connections.originsWithResponse.has(this.#address.origin)
    );
  }

  #end(settle: () => void): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { signal, options } = this.#context;
    clearTimeout(this.#deadline);
    signal.removeEventListener('abort', this.#abort);
    options.decodingBudget.end(this.#share);
    this.#decoder?.[Symbol.dispose]();
    // Closes the connection unless the body was read to its end.
    this.#controller?.abort(ENDED);
    settle();
  }
}

/** Whether a response with this status has a whole listing: 206 has a part of one, which nothing asked for. */
export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status <= 299 && status !== 206;
}
