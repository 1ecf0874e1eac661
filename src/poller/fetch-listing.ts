import { ListingError } from '../listing/errors.ts';
import { ListingReader } from '../listing/reader.ts';
import type { ListingSink, RecordReaders } from '../listing/record-readers.ts';
import type { ListingTarget, UpstreamClient } from '../upstream/client.ts';
import { UpstreamError } from '../upstream/errors.ts';

/** A request for a listing that was answered with a whole and good one: it is in the sink. */
export interface GoodListing extends Answered {
  readonly error?: undefined;
}

/** One that was not; what is in the sink is of no use. */
export interface FailedListing extends Answered {
  readonly error: UpstreamError;
}

interface Answered {
  /** The answer's `ret`, where it had one. */
  readonly ret: number | undefined;
  /** Size of what was read of the body, decompressed; undefined where none came: an empty one is 0. */
  readonly bytes: number | undefined;
}

/**
 * Asks for a listing and reads it into a sink.
 *
 * Rejects only with the signal's reason, or for a mistake of the program: whatever the service does is an
 * `UpstreamError` in what it returns.
 */
export async function fetchListing(
  client: Pick<UpstreamClient, 'requestListing'>,
  target: ListingTarget,
  sink: ListingSink,
  records: RecordReaders,
  signal: AbortSignal,
): Promise<GoodListing | FailedListing> {
  const body = new BodyReading(sink, records);
  try {
    const { status, retryAfterMs } = await client.requestListing(
      target,
      (chunk, chunkStatus) => body.write(chunk, chunkStatus),
      signal,
    );
    body.answered();
    return body.result(judge(body, status, retryAfterMs));
  } catch (error) {
    if (error instanceof UpstreamError) return body.result(error);
    if (error instanceof ListingError) return body.result(asUpstreamError(error));
    throw error;
  }
}

/** A body on its way through the reader. */
class BodyReading {
  readonly reader: ListingReader;
  #bytes: number | undefined;
  #isReadable = true;

  constructor(sink: ListingSink, records: RecordReaders) {
    this.reader = new ListingReader(sink, records);
  }

  write(chunk: Uint8Array, status: number): void {
    this.#bytes = (this.#bytes ?? 0) + chunk.byteLength;
    if (isSuccess(status)) this.reader.write(chunk);
    else this.#try(() => this.reader.write(chunk));
  }

  /** There is a body, if only an empty one. */
  answered(): void {
    this.#bytes ??= 0;
  }

  /** Ends the body of an error: the reader may still hold the bytes of its `ret`. */
  endError(): void {
    this.#try(() => this.reader.end());
  }

  result(error: UpstreamError | undefined): GoodListing | FailedListing {
    const answered = { ret: this.reader.ret, bytes: this.#bytes };
    return error === undefined ? answered : { ...answered, error };
  }

  /** The body of an error may be anything; it is read for its `ret`, in case that it has one. */
  #try(read: () => void): void {
    if (!this.#isReadable) return;
    try {
      read();
    } catch (error) {
      if (!(error instanceof ListingError)) throw error;
      this.#isReadable = false;
    }
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

function judge(
  body: BodyReading,
  status: number,
  retryAfterMs: number | undefined,
): UpstreamError | undefined {
  const details = retryAfterMs === undefined ? { status } : { status, retryAfterMs };
  if (!isSuccess(status)) {
    body.endError();
    return new UpstreamError('http_status', `Expected HTTP status 2xx, found ${status}`, details);
  }
  const { ret } = body.reader.end();
  return ret === 0 ? undefined : new UpstreamError('api_error', `Expected ret 0, found ${ret}`, details);
}

function asUpstreamError(error: ListingError): UpstreamError {
  return new UpstreamError(error.code, error.message, { cause: error });
}
