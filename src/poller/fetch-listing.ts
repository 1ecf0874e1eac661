import { ReadError } from '../json-columns/read-error.ts';
import { ListingReader, type ReaderPool } from '../listing/reader.ts';
import type { AccountReservations, Listing, ListingOptions } from '../listing/listing.ts';
import { isResourceError } from '../runtime/errors.ts';
import { isSuccessStatus, type ListingTarget, type UpstreamClient } from '../upstream/client.ts';
import { toUpstreamError } from '../upstream/error-classification.ts';
import { FOREIGN_LISTING } from '../upstream/error-codes.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { RequestObserver, ResponseHead } from '../upstream/request-observer.ts';

export type ListingRequest = ListingTarget & ListingOptions;

/** Receives the events of a request, and for diagnostics the decoded body. */
export interface ListingObserver extends RequestObserver {
  readonly onChunk?: (chunk: Uint8Array) => void;
}

interface FetchResult {
  readonly ret: number | undefined;
  /** Decompressed bytes received, 0 for an empty body; `undefined` if there was no body. */
  readonly bytes: number | undefined;
  readonly response: ResponseHead | undefined;
}

/** A complete, valid listing with `ret` 0. */
export interface GoodListing extends FetchResult {
  readonly listing: Listing;
  readonly error?: undefined;
}

export interface FailedListing extends FetchResult {
  readonly error: UpstreamError;
  /** Users and tasks that were read until it failed. */
  readonly users: number;
  readonly tasks: number;
  /** The first bytes of the decoded body, each as one character. */
  readonly bodyStart?: string;
}

/** Enough for warnings of a program in front of a listing. */
const BODY_START_BYTES = 4096;

/** Requests and reads a listing. Rejects on abort or with an internal error only: failures are results. */
export async function fetchListing(
  client: Pick<UpstreamClient, 'requestListing'>,
  request: ListingRequest,
  readers: ReaderPool,
  accountShare: AccountReservations | undefined,
  signal: AbortSignal,
  observer?: ListingObserver,
): Promise<GoodListing | FailedListing> {
  using reader = new ListingReader(request, readers, accountShare);
  const received = new ReceivedResponse(reader, observer);
  try {
    const response = await client.requestListing(request, received.onChunk, signal, received.observer);
    const listing = received.end();
    const { ret } = reader.progress;
    if (isSuccessStatus(response.status) && listing !== undefined)
      return { listing, ret, ...received.describe() };
    throw createResponseError(response, ret);
  } catch (error) {
    const failure = toListingError(error);
    if (failure === undefined) throw error;
    return { error: failure, ...reader.progress, ...received.describe(), bodyStart: received.bodyStart };
  }
}

/**
 * What has been received of a response. The connection keeps its functions until its next response, so it
 * must not hold the listing.
 */
class ReceivedResponse {
  readonly #reader: ListingReader;
  readonly #observer: ListingObserver | undefined;
  #head: ResponseHead | undefined;
  #bytes: number | undefined;
  #bodyStart = '';
  #isReadable = true;

  constructor(reader: ListingReader, observer: ListingObserver | undefined) {
    this.#reader = reader;
    this.#observer = observer;
  }

  get observer(): RequestObserver {
    return {
      ...this.#observer,
      onResponse: (head) => {
        this.#head = head;
        this.#observer?.onResponse(head);
      },
    };
  }

  /** As in a `FailedListing`; empty after the end of a good one. */
  get bodyStart(): string {
    return this.#bodyStart;
  }

  readonly onChunk = (chunk: Uint8Array): void => {
    this.#bytes = (this.#bytes ?? 0) + chunk.length;
    const missing = BODY_START_BYTES - this.#bodyStart.length;
    if (missing > 0) this.#bodyStart += Buffer.from(chunk.subarray(0, missing)).toString('latin1');
    this.#observer?.onChunk?.(chunk);
    this.#tryToRead(() => this.#reader.write(chunk));
  };

  /** Ends the body. The reader may hold the bytes of `ret` until then. */
  end(): Listing | undefined {
    this.#bytes ??= 0;
    const listing = this.#tryToRead(() => this.#reader.end());
    if (listing !== undefined) this.#bodyStart = '';
    return listing;
  }

  describe(): Omit<FetchResult, 'ret'> {
    return { bytes: this.#bytes, response: this.#head };
  }

  /** The body of an error response may be anything; it is read only for its `ret`. */
  #tryToRead<T>(read: () => T): T | undefined {
    if (!this.#isReadable) return undefined;
    try {
      return read();
    } catch (error) {
      if (isSuccessStatus(this.#head?.status ?? 0) || !(error instanceof ReadError)) throw error;
      this.#isReadable = false;
      return undefined;
    }
  }
}

/** Makes a failure of a good listing whose records name only other service codes. */
export function rejectForeign(fetched: GoodListing | FailedListing): GoodListing | FailedListing {
  if (fetched.error !== undefined) return fetched;
  const { listing, ...good } = fetched;
  const { ofPolledCode, rows, users, taskCount: tasks } = listing;
  if (ofPolledCode > 0 || rows.foreignRecords.labelSets.length === 0) return fetched;
  const message = 'Expected records of this service code, found only those of another';
  return { ...good, error: new UpstreamError('bad_shape', message, { code: FOREIGN_LISTING }), users, tasks };
}

function createResponseError(response: ResponseHead, ret: number | undefined): UpstreamError {
  const { status } = response;
  if (isSuccessStatus(status))
    return new UpstreamError('api_error', `Expected ret 0, found ${ret}`, response);
  const whole = status === 206 ? ' with a whole listing' : '';
  return new UpstreamError('http_status', `Expected HTTP status 2xx${whole}, found ${status}`, response);
}

/** Returns `undefined` for the reason of a signal and for an internal error. */
function toListingError(error: unknown): UpstreamError | undefined {
  if (error instanceof ReadError) {
    const { code, isCutOff } = error;
    const message = isCutOff
      ? `Expected a whole listing, found one that is cut off after ${error.byteOffset} bytes`
      : error.message;
    const invalidByte = code === 'not_json' && !isCutOff ? error.byteOffset : undefined;
    return new UpstreamError(code, message, { isCutOff, invalidByte, cause: error });
  }
  return error instanceof UpstreamError || isResourceError(error) ? toUpstreamError(error) : undefined;
}
