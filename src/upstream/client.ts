import type { Dispatcher } from 'undici';
import { raceAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { type ListingAddress, buildListingAddress } from './address.ts';
import { checkContentLength, readBody, readExcerpt } from './body-reader.ts';
import { type ClockOffset, estimateClockOffset } from './clock-offset.ts';
import { type ConnectionOptions, type Connections, openConnections } from './connections.ts';
import { startDeadline } from './deadline.ts';
import { ACCEPTED_CODINGS, decodeBody } from './decoding.ts';
import type { DecodingBudget } from './decoding-budget.ts';
import { toUpstreamError } from './error-classification.ts';
import { UpstreamError } from './errors.ts';
import { observeBodyBytes, redactRequest, type RequestObserver } from './request-observer.ts';
import { parseRetryAfter } from './retry-after.ts';
import { signRequest, type SigningScheme } from './signing.ts';

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
  /** Size of the decoded body. */
  readonly bytes: number;
  /** The delay that the service requested with `Retry-After`. */
  readonly retryAfterMs?: number;
}

/** Receives the decoded chunks of a body as they arrive, with the HTTP status of the response. */
export type BodyConsumer = (chunk: Uint8Array, status: number) => void;

interface HttpResponse extends Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'> {
  readonly clockOffset: ClockOffset | undefined;
}

/** A request in progress; the signal is the one of its deadline. */
interface PendingRequest {
  readonly target: ListingTarget;
  readonly address: ListingAddress;
  readonly observer: RequestObserver | undefined;
  readonly signal: AbortSignal;
}

/** Requests listings from the service ("task_list" of the interface), for all service codes. */
export class UpstreamClient implements AsyncDisposable {
  readonly #options: ClientOptions & { readonly clock: Clock };
  readonly #connections: Connections;
  /** Only these origins can have a kept-alive connection. */
  readonly #originsWithResponse = new Set<string>();

  constructor(options: ClientOptions & { readonly clock: Clock }) {
    this.#options = options;
    this.#connections = openConnections(options);
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
    const address = buildListingAddress(target.baseUrl, target.serviceCode);
    using deadline = startDeadline(target.timeoutMs, signal);
    const request = { target, address, observer, signal: deadline.signal };
    return await this.#readResponse(await this.#sendWithRetry(request), onBody, request);
  }

  /** Aborts requests in progress and closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  /**
   * Retries a reset once, with a new signature, if the connection may have been a kept-alive one: a server may close it
   * just as a request is sent, which is not a failure of the service.
   */
  async #sendWithRetry(request: PendingRequest): Promise<HttpResponse> {
    try {
      return await this.#send(request);
    } catch (error) {
      const isReset = error instanceof UpstreamError && error.reason === 'reset';
      if (!isReset || !this.#originsWithResponse.has(request.address.origin)) throw error;
      return await this.#send(request);
    }
  }

  /** Resolves when the response headers have arrived. */
  async #send({ target, address, observer, signal }: PendingRequest): Promise<HttpResponse> {
    const { clock, userAgent } = this.#options;
    const requestMs = clock.now();
    const headers = {
      accept: 'application/json',
      'accept-encoding': ACCEPTED_CODINGS,
      'user-agent': userAgent,
      ...signRequest(target.signing, target.secret, address, requestMs),
    };
    observer?.onRequest?.(redactRequest(target, address, headers));
    const sent = this.#connections.dispatcher.request({
      origin: address.origin,
      path: address.url.slice(address.origin.length),
      method: 'GET',
      headers,
      // The deadline of the poll is the only one.
      headersTimeout: 0,
      bodyTimeout: 0,
      signal,
    });
    try {
      // undici ignores the signal while it connects.
      const { statusCode, headers: received, body } = await raceAbort(sent, signal);
      this.#originsWithResponse.add(address.origin);
      const date = joinHeaderValues(received['date']);
      const clockOffset = estimateClockOffset(date, requestMs, clock.now());
      return { statusCode, headers: received, body, clockOffset };
    } catch (error) {
      throw toRequestError(error, signal);
    }
  }

  async #readResponse(
    { statusCode: status, headers, body, clockOffset }: HttpResponse,
    consume: BodyConsumer,
    { address, observer, signal }: PendingRequest,
  ): Promise<ListingResponse> {
    observer?.onResponse({
      status,
      clockOffset,
      certificateNotAfterMs: this.#connections.getCertificateNotAfterMs(address.origin),
      header: (name) => joinHeaderValues(headers[name]),
    });
    const { clock, decodingBudget, maxResponseBytes } = this.#options;
    using share = decodingBudget.start(signal);
    const onBody = (chunk: Uint8Array): void => consume(chunk, status);
    const coding = joinHeaderValues(headers['content-encoding']) ?? '';
    const retryAfterMs = parseRetryAfter(joinHeaderValues(headers['retry-after']), clock.now());
    const requestedPause = retryAfterMs === undefined ? {} : { retryAfterMs };
    try {
      const encoded = observer === undefined ? body : observeBodyBytes(body, observer);
      const chunks = convertReadErrors(decodeBody(encoded, coding, share), signal);
      if (!isSuccessStatus(status)) {
        const bytes = await readExcerpt(chunks, onBody);
        return { status, bytes, ...requestedPause };
      }
      checkContentLength(joinHeaderValues(headers['content-length']), coding, maxResponseBytes);
      return { status, bytes: await readBody(chunks, maxResponseBytes, onBody), ...requestedPause };
    } finally {
      // Closes the connection unless the body was read to its end.
      body.on('error', () => undefined).destroy();
    }
  }
}

/** Whether a response with this status has a whole listing: 206 has a part of one, which nothing asked for. */
export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status <= 299 && status !== 206;
}

function toRequestError(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : toUpstreamError(error);
}

/** Converts errors of the source only: an error of the loop that consumes the chunks does not pass through here. */
async function* convertReadErrors(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw toRequestError(error, signal);
  }
}

function joinHeaderValues(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
