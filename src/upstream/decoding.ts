import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

import { UpstreamError } from './errors.ts';

type Bytes = AsyncIterable<Uint8Array>;

/** The codings that {@link decodeBody} knows, as a value of `accept-encoding`. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

/** Each coding costs a decompressor: nobody honest stacks more. */
const MAX_CODINGS = 4;

/**
 * However much a body swells, this is what one step of decompression gives. The next step waits until it has
 * been read.
 */
const CHUNK_BYTES = 64 * 1024;

/**
 * Undoes the content codings of a body (RFC 9110, section 8.4) as it arrives.
 *
 * @param contentEncoding - the header; empty where there is none
 * @returns the decoded bytes. Iterating throws an {@link UpstreamError} `not_json` on an unknown coding, the errors
 *   of zlib on a broken or truncated stream, and those of `source`.
 */
export async function* decodeBody(source: Bytes, contentEncoding: string): AsyncGenerator<Uint8Array> {
  let decoded = source;
  // Listed in the order in which they were applied: the last is undone first.
  for (const coding of contentCodings(contentEncoding).toReversed()) {
    decoded = decode(decoded, coding);
  }
  yield* decoded;
}

/** The codings of a `content-encoding` header, in lower case, without `identity`. */
export function contentCodings(contentEncoding: string): readonly string[] {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MAX_CODINGS) {
    throw new UpstreamError('not_json', `The answer has more than ${MAX_CODINGS} content codings`);
  }
  return codings;
}

function decode(source: Bytes, coding: string): Bytes {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return through(source, createGunzip({ chunkSize: CHUNK_BYTES }));
    case 'br':
      return through(source, createBrotliDecompress({ chunkSize: CHUNK_BYTES }));
    case 'deflate':
      return inflate(source);
    default:
      throw new UpstreamError('not_json', `The answer has a content coding other than ${ACCEPTED_CODINGS}`);
  }
}

/** `deflate` is the zlib format by its definition, and bare deflate from many a server: the first byte tells. */
async function* inflate(source: Bytes): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let first = await chunks.next();
  while (first.done !== true && first.value.length === 0) {
    first = await chunks.next();
  }
  if (first.done === true) {
    return;
  }
  const isZlib = ((first.value[0] ?? 0) & 0x0f) === 8;
  const options = { chunkSize: CHUNK_BYTES };
  const rest = { [Symbol.asyncIterator]: () => chunks };
  yield* through(prepend(first.value, rest), isZlib ? createInflate(options) : createInflateRaw(options));
}

async function* prepend(first: Uint8Array, rest: Bytes): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

/** The errors of every part come out where the result is read, so the callback has nothing left to tell. */
function through(source: Bytes, decoder: Transform): Bytes {
  return pipeline(source, decoder, () => undefined);
}
