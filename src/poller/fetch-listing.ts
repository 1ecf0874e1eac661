import { ReadError } from '../listing/engine/read-error.ts';
import { type ListingOptions, ListingReader, type ReaderPool } from '../listing/reader.ts';
import type { ListingSink } from '../listing/listing-sink.ts';
import { isResourceError } from '../runtime/errors.ts';
import { isSuccessStatus, type ListingTarget, type UpstreamClient } from '../upstream/client.ts';
import { toUpstreamError } from '../upstream/error-classification.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { RequestObserver, ResponseHead } from '../upstream/request-observer.ts';

/** What to request, and what to read of the response. */
export type ListingRequest = ListingTarget & ListingOptions;

interface FetchedListing {
  /** `ret` of the response; `undefined` if it had none. */
  readonly ret: number | undefined;
  /** Decompressed bytes received, 0 for an empty body; `undefined` if there was no body. */
  readonly bytes: number | undefined;
  /** HTTP status of the response; `undefined` if there was none. */
  readonly status: number | undefined;
}

/** A complete, valid listing with `ret` 0; its records are in the sink. */
export interface GoodListing extends FetchedListing {
  readonly error?: undefined;
}

/** A failed request; the sink may hold a part of the records and must be discarded. */
export interface FailedListing extends FetchedListing {
  readonly error: UpstreamError;
  readonly response?: ResponseHead | undefined;
}

/**
 * Requests a listing and reads it into a sink.
 *
 * Returns an `UpstreamError` for every failure of the service. Rejects only with the signal's reason or an internal error.
 */
export async function fetchListing(
  client: Pick<UpstreamClient, 'requestListing'>,
  request: ListingRequest,
  sink: ListingSink,
  readers: ReaderPool,
  signal: AbortSignal,
  observer?: Pick<RequestObserver, 'onResponse' | 'onBodyBytes'>,
): Promise<GoodListing | FailedListing> {
  using body = new ListingBodyReader(sink, request, readers);
  const observeResponse: RequestObserver = {
    onResponse: (response) => {
      body.response = response;
      observer?.onResponse(response);
    },
    onBodyBytes: (bytes) => observer?.onBodyBytes(bytes),
  };
  try {
    const { status, retryAfterMs } = await client.requestListing(
      request,
      (chunk, chunkStatus) => body.write(chunk, chunkStatus),
      signal,
      observeResponse,
    );
    const ret = body.end(status);
    if (isSuccessStatus(status) && ret === 0) return { ret, bytes: body.bytes, status };
    const details = retryAfterMs === undefined ? { status } : { status, retryAfterMs };
    const whole = status === 206 ? ' with a whole listing' : '';
    return body.fail(
      isSuccessStatus(status)
        ? new UpstreamError('api_error', `Expected ret 0, found ${ret}`, details)
        : new UpstreamError('http_status', `Expected HTTP status 2xx${whole}, found ${status}`, details),
    );
  } catch (error) {
    if (error instanceof UpstreamError) return body.fail(error);
    if (error instanceof ReadError)
      return body.fail(new UpstreamError(error.code, error.message, { cause: error }));
    if (isResourceError(error)) return body.fail(toUpstreamError(error));
    throw error;
  }
}

/** Passes a body to the listing reader. The body of an error response may be anything; it is read only for its `ret`. */
class ListingBodyReader implements Disposable {
  bytes: number | undefined;
  response: ResponseHead | undefined;
  #status: number | undefined;
  readonly #reader: ListingReader;
  #isReadable = true;

  constructor(sink: ListingSink, options: ListingOptions, readers: ReaderPool) {
    this.#reader = new ListingReader(sink, options, readers);
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]();
  }

  write(chunk: Uint8Array, status: number): void {
    this.bytes = (this.bytes ?? 0) + chunk.byteLength;
    this.#read(status, () => this.#reader.write(chunk));
  }

  /** Ends the body and returns its `ret`: the reader may hold the bytes of `ret` until then. */
  end(status: number): number | undefined {
    this.bytes ??= 0;
    this.#read(status, () => this.#reader.end());
    return this.#reader.ret;
  }

  fail(error: UpstreamError): FailedListing {
    const { bytes, response } = this;
    return { error, ret: this.#reader.ret, bytes, status: this.#status ?? error.status, response };
  }

  #read(status: number, read: () => void): void {
    this.#status = status;
    if (!this.#isReadable) return;
    try {
      read();
    } catch (error) {
      if (isSuccessStatus(status) || !(error instanceof ReadError)) throw error;
      this.#isReadable = false;
    }
  }
}
