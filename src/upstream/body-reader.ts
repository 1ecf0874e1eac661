import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { parseContentCodings } from './decoding.ts';
import { UpstreamError } from './errors.ts';

type Bytes = AsyncIterable<Uint8Array>;
type OnBody = (chunk: Uint8Array) => void;

/** Enough of an error response for a `ret` or for an error page. */
const MAX_EXCERPT_BYTES = 64 * 1024;

/** A body that arrives faster than it is read would otherwise block the event loop. */
const BYTES_PER_YIELD = 256 * 1024;

/**
 * Rejects a response whose `Content-Length` exceeds the limit. The length of a compressed body is ignored, as the limit
 * applies to the decoded body.
 *
 * @throws UpstreamError `too_large`
 */
export function checkContentLength(
  contentLength: string | undefined,
  contentEncoding: string,
  maxBytes: number,
): void {
  if (parseContentCodings(contentEncoding).length === 0 && Number(contentLength ?? 0) > maxBytes) {
    throw createTooLargeError(maxBytes);
  }
}

/**
 * Passes a body to `onBody` and returns its size in bytes.
 *
 * @throws UpstreamError `too_large` as soon as the limit is exceeded. Errors of `chunks` and `onBody` pass unchanged.
 */
export async function readBody(chunks: Bytes, maxBytes: number, onBody: OnBody): Promise<number> {
  let bytes = 0;
  let bytesSinceYield = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw createTooLargeError(maxBytes);
    onBody(chunk);
    bytesSinceYield += chunk.length;
    if (bytesSinceYield >= BYTES_PER_YIELD) {
      bytesSinceYield = 0;
      await yieldToEventLoop();
    }
  }
  return bytes;
}

/**
 * Passes the first 64 KiB of a body to `onBody` and returns how many bytes it passed. An {@link UpstreamError} of
 * `chunks` ends the excerpt; other errors pass unchanged.
 */
export async function readExcerpt(chunks: Bytes, onBody: OnBody): Promise<number> {
  let bytes = 0;
  for await (const chunk of stopAtUpstreamError(chunks)) {
    const part = chunk.subarray(0, MAX_EXCERPT_BYTES - bytes);
    bytes += part.length;
    onBody(part);
    if (bytes === MAX_EXCERPT_BYTES) break;
  }
  return bytes;
}

async function* stopAtUpstreamError(chunks: Bytes): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  }
}

function createTooLargeError(maxBytes: number): UpstreamError {
  return new UpstreamError('too_large', `The response is larger than ${maxBytes} bytes`);
}
