import type { Dispatcher } from 'undici';

import type { Clock } from '../clock.ts';
import { type ListingAddress, listingAddress } from './address.ts';
import { type ConnectionOptions, type Connections, openConnections } from './connections.ts';
import { beforeAbort, startDeadline } from './deadline.ts';
import { ACCEPTED_CODINGS, decodeBody } from './decoding.ts';
import { checkAnnouncedLength, deliverExcerpt, deliverWhole } from './delivery.ts';
import { UpstreamError } from './errors.ts';
import { counted, describeRequest, type ExchangeObserver } from './exchange.ts';
import { toUpstreamError } from './failure.ts';
import { parseRetryAfter } from './retry-after.ts';
import { signRequest, type SigningScheme } from './signing.ts';

/** What holds for all service codes. Every timeout ends a request with an {@link UpstreamError} `timeout`. */
export interface ClientOptions extends ConnectionOptions {
  /** From the request sent to the header of the answer. */
  readonly headersTimeoutMs: number;
  /** Between two pieces of the body. */
  readonly idleTimeoutMs: number;
  /** Bytes of a body, decompressed. */
  readonly maxResponseBytes: number;
  readonly userAgent: string;
}

/** Whose listing is asked for, where and how. */
export interface ListingTarget {
  readonly serviceCode: string;
  /** Absolute http or https URL, to which the path of the interface is added. */
  readonly baseUrl: string;
  readonly secret: string;
  readonly signing: SigningScheme;
  /** For the whole request: connection, answer and repetition. */
  readonly timeoutMs: number;
}

/** An answer whose body has been handed on. */
export interface ListingResponse {
  readonly status: number;
  /** Bytes handed on, decompressed. */
  readonly bytes: number;
  /** How long the service asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** Takes the pieces of a body as they arrive, with the HTTP status of the answer. */
export type BodyConsumer = (chunk: Uint8Array, status: number) => void;

type Answer = Dispatcher.ResponseData;

/** A request under way. */
interface Asking {
  readonly target: ListingTarget;
  readonly address: ListingAddress;
  readonly observer: ExchangeObserver | undefined;
  /** Of its deadline. */
  readonly signal: AbortSignal;
}

/** Asks the service for listings ("task_list" of the interface). One for all service codes. */
export class UpstreamClient implements AsyncDisposable {
  readonly #options: ClientOptions & { readonly clock: Clock };
  readonly #connections: Connections;
  /** Origins that have answered: only to these can there be a kept-alive connection. */
  readonly #answered = new Set<string>();

  constructor(options: ClientOptions & { readonly clock: Clock }) {
    this.#options = options;
    this.#connections = openConnections(options);
  }

  /**
   * Requests a listing and hands its body on, decompressed, as it arrives.
   *
   * Resolves for any HTTP status; redirects are not followed. Of an answer other than 2xx at most 64 KiB are handed
   * on, and trouble with its body does not hide its status.
   *
   * @param onBody - called with each piece and the status; what it throws ends the request, and is thrown as it is
   * @param observer - is told of what goes to and fro; for explanations, not for the usual polls
   * @param signal - ends the request, which then rejects with the reason of the signal. Node warns of a leak where more
   *   than ten requests at a time share one, unless it was given to `setMaxListeners`.
   * @throws UpstreamError `timeout`, `dns`, `connect`, `tls`, `reset`, `too_large`, or `not_json` where the body cannot
   *   be decoded.
   */
  async requestListing(
    target: ListingTarget,
    onBody: BodyConsumer,
    signal: AbortSignal,
    observer?: ExchangeObserver,
  ): Promise<ListingResponse> {
    signal.throwIfAborted();
    const address = listingAddress(target.baseUrl, target.serviceCode);
    const deadline = startDeadline(target.timeoutMs, signal);
    try {
      const asking = { target, address, observer, signal: deadline.signal };
      const answer = await this.#ask(asking);
      return await this.#receive(answer, onBody, asking);
    } finally {
      deadline[Symbol.dispose]();
    }
  }

  /** Ends what is under way and closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  /**
   * A server may close a kept-alive connection just as a request is sent on it, which says nothing of the
   * service: such a request is sent once more, signed anew.
   */
  async #ask(asking: Asking): Promise<Answer> {
    try {
      return await this.#send(asking);
    } catch (error) {
      const isReset = error instanceof UpstreamError && error.reason === 'reset';
      if (!isReset || !this.#answered.has(asking.address.origin)) {
        throw error;
      }
      return await this.#send(asking);
    }
  }

  /** Resolves when the header of the answer has arrived. */
  async #send({ target, address, observer, signal }: Asking): Promise<Answer> {
    const { clock, headersTimeoutMs, idleTimeoutMs, userAgent } = this.#options;
    const headers = {
      accept: 'application/json',
      'accept-encoding': ACCEPTED_CODINGS,
      'user-agent': userAgent,
      ...signRequest(target.signing, target.secret, address, clock.now()),
    };
    observer?.asked(describeRequest(target, address, headers));
    const sent = this.#connections.dispatcher.request({
      origin: address.origin,
      path: address.url.slice(address.origin.length),
      method: 'GET',
      headers,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: idleTimeoutMs,
      signal,
    });
    try {
      // undici heeds the signal only once there is a connection.
      const answer = await beforeAbort(sent, signal);
      this.#answered.add(address.origin);
      return answer;
    } catch (error) {
      throw failureOf(error, signal);
    }
  }

  async #receive(
    { statusCode: status, headers, body }: Answer,
    consume: BodyConsumer,
    { observer, signal }: Asking,
  ): Promise<ListingResponse> {
    observer?.answered({ status, header: (name) => textOf(headers[name]) });
    const { clock, maxResponseBytes } = this.#options;
    const onBody = (chunk: Uint8Array): void => consume(chunk, status);
    const coding = textOf(headers['content-encoding']) ?? '';
    const retryAfterMs = parseRetryAfter(textOf(headers['retry-after']), clock.now());
    try {
      const encoded = observer === undefined ? body : counted(body, observer);
      const chunks = explained(decodeBody(encoded, coding), signal);
      if (status < 200 || status > 299) {
        return {
          status,
          bytes: await deliverExcerpt(chunks, onBody),
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        };
      }
      checkAnnouncedLength(textOf(headers['content-length']), coding, maxResponseBytes);
      return { status, bytes: await deliverWhole(chunks, maxResponseBytes, onBody) };
    } finally {
      // Does nothing to a body that was read to its end.
      body.on('error', () => undefined).destroy();
    }
  }
}

function failureOf(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : toUpstreamError(error);
}

/** Only what reading throws passes through here: what the consumer throws stays as it is. */
async function* explained(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw failureOf(error, signal);
  }
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
