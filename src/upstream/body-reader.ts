import { setImmediate as nextTurn } from 'node:timers/promises';

import { contentCodings } from './decoding.ts';
import { UpstreamError } from './errors.ts';

type Bytes = AsyncIterable<Uint8Array>;
type OnBody = (chunk: Uint8Array) => void;

/** Of an answer other than 2xx, this much is of use: enough for a `ret`, or for a page that says what is wrong. */
const MAX_EXCERPT_BYTES = 64 * 1024;

/** After so much, everybody else has a turn: a body that comes faster than it is read would keep the event loop. */
const BYTES_PER_TURN = 256 * 1024;

/**
 * Refuses a body that says beforehand that it is too large. A compressed one is not judged: its length says little.
 *
 * @throws UpstreamError `too_large`
 */
export function checkAnnouncedLength(
  contentLength: string | undefined,
  contentEncoding: string,
  maxBytes: number,
): void {
  if (contentCodings(contentEncoding).length === 0 && Number(contentLength ?? 0) > maxBytes) {
    throw tooLarge(maxBytes);
  }
}

/**
 * Hands a body on, and says how many bytes it had.
 *
 * @throws UpstreamError `too_large` at the first byte too many; else what `chunks` or `onBody` throw, unchanged.
 */
export async function deliverWhole(chunks: Bytes, maxBytes: number, onBody: OnBody): Promise<number> {
  let bytes = 0;
  let bytesOfTurn = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw tooLarge(maxBytes);
    }
    onBody(chunk);
    bytesOfTurn += chunk.length;
    if (bytesOfTurn >= BYTES_PER_TURN) {
      bytesOfTurn = 0;
      await nextTurn();
    }
  }
  return bytes;
}

/**
 * Hands the first 64 KiB of a body on, and says how many bytes these were. Where reading fails with an
 * {@link UpstreamError}, what came before is all there is; anything else is thrown on.
 */
export async function deliverExcerpt(chunks: Bytes, onBody: OnBody): Promise<number> {
  let bytes = 0;
  for await (const chunk of untilFailure(chunks)) {
    const part = chunk.subarray(0, MAX_EXCERPT_BYTES - bytes);
    bytes += part.length;
    onBody(part);
    if (bytes === MAX_EXCERPT_BYTES) {
      break;
    }
  }
  return bytes;
}

async function* untilFailure(chunks: Bytes): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    if (!(error instanceof UpstreamError)) {
      throw error;
    }
  }
}

function tooLarge(maxBytes: number): UpstreamError {
  return new UpstreamError('too_large', `The answer has more than ${maxBytes} bytes`);
}
