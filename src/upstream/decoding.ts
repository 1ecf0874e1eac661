import { pipeline, type Transform } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib';
import type { DecodingShare } from './decoding-budget.ts';
import { UpstreamError } from './errors.ts';

type Bytes = AsyncIterable<Uint8Array>;

/** The codings that {@link decodeBody} supports, as a value of `Accept-Encoding`. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

/** One of the server and one of a proxy. Each further one would multiply what a small body can expand to. */
const MAX_CODINGS = 2;

/** Output of one decompression step. */
const CHUNK_BYTES = 64 * 1024;
/** zlib, in a thread of its own, decompresses this much beyond what the consumer has read. */
const READ_AHEAD_BYTES = 256 * 1024;

const STREAM_OPTIONS = { chunkSize: CHUNK_BYTES, readableHighWaterMark: READ_AHEAD_BYTES };

/** A smaller body is decompressed synchronously, unless its output is too large. */
const MAX_SYNC_INPUT_BYTES = 64 * 1024;
const MAX_SYNC_OUTPUT_BYTES = 1024 * 1024;
/** ISIZE at the end of a gzip member: the size of its input modulo 2^32 (RFC 1952, section 2.3.1). */
const GZIP_LENGTH_BYTES = 4;
/** zlib's minimum chunk size. zlib needs spare space in the buffer to notice the end of its input. */
const SPARE_OUTPUT_BYTES = 64;

/**
 * Decodes the content codings of a body (RFC 9110, section 8.4) as it arrives.
 *
 * @param contentEncoding - the header; empty if it is missing
 * @param share - counts the output of each coding, because an inner one may consume much and pass on nothing
 * @returns the decoded bytes. Iterating throws an {@link UpstreamError} `not_json` for an unknown coding, zlib errors
 *   for a broken or truncated body, and the errors of `source` and `share`.
 */
export async function* decodeBody(
  source: Bytes,
  contentEncoding: string,
  share: Pick<DecodingShare, 'add'>,
): AsyncGenerator<Uint8Array> {
  const codings = parseContentCodings(contentEncoding);
  let decoded = codings.length === 0 ? count(source, share) : source;
  // The header lists codings in the order of their application.
  for (const coding of codings.toReversed()) decoded = count(decode(decoded, coding), share);
  yield* decoded;
}

async function* count(chunks: Bytes, share: Pick<DecodingShare, 'add'>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    share.add(chunk.length);
    yield chunk;
  }
}

/**
 * Parses `Content-Encoding` into codings in lower case, without `identity`.
 *
 * @throws UpstreamError `not_json` if there are more than 2.
 */
export function parseContentCodings(contentEncoding: string): readonly string[] {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MAX_CODINGS) {
    throw new UpstreamError('not_json', `The response has more than ${MAX_CODINGS} content codings`);
  }
  return codings;
}

interface Decoder {
  readonly decodeSync: (
    bytes: Uint8Array,
    options: { readonly maxOutputLength: number; readonly chunkSize: number },
  ) => Buffer;
  readonly createStream: (options: ZlibOptions & { readonly readableHighWaterMark: number }) => Transform;
  /** Buffer size for the whole output, if the body declares it. */
  readonly estimateOutputBytes?: (bytes: Buffer) => number;
}

const GZIP: Decoder = {
  decodeSync: gunzipSync,
  createStream: createGunzip,
  estimateOutputBytes: estimateGzipOutputBytes,
};
const BROTLI: Decoder = { decodeSync: brotliDecompressSync, createStream: createBrotliDecompress };
const ZLIB: Decoder = { decodeSync: inflateSync, createStream: createInflate };
const RAW_DEFLATE: Decoder = { decodeSync: inflateRawSync, createStream: createInflateRaw };

/** Decoder by coding; `deflate` also depends on the first byte of the body. */
const DECODERS = new Map<string, (first: number) => Decoder>([
  ['gzip', () => GZIP],
  ['x-gzip', () => GZIP],
  ['br', () => BROTLI],
  // The specification requires the zlib format, but some servers send raw deflate.
  ['deflate', (first) => ((first & 0x0f) === 8 ? ZLIB : RAW_DEFLATE)],
]);

async function* decode(source: Bytes, coding: string): AsyncGenerator<Uint8Array> {
  const selectDecoder = DECODERS.get(coding);
  if (selectDecoder === undefined) {
    throw new UpstreamError('not_json', `The response has a content coding other than ${ACCEPTED_CODINGS}`);
  }
  const { start, rest } = await bufferStart(source);
  const decoder = selectDecoder(start[0] ?? 0);
  const whole = rest === undefined ? decodeWhole(start, decoder) : undefined;
  if (whole === undefined) yield* pipeThrough(prepend(start, rest), decoder.createStream(STREAM_OPTIONS));
  else yield whole;
}

interface BufferedStart {
  readonly start: Buffer;
  /** `undefined` if `start` is the whole body. */
  readonly rest: Bytes | undefined;
}

async function bufferStart(source: Bytes): Promise<BufferedStart> {
  const chunks = source[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  for (let length = 0; length < MAX_SYNC_INPUT_BYTES; length += pieces.at(-1)?.length ?? 0) {
    const next = await chunks.next();
    if (next.done === true) return { start: Buffer.concat(pieces), rest: undefined };
    pieces.push(next.value);
  }
  return { start: Buffer.concat(pieces), rest: { [Symbol.asyncIterator]: () => chunks } };
}

/**
 * Decodes a small body without a stream, which would cost more than the rest of the poll. Returns `undefined` for a broken
 * body or a large output; a stream then decodes it.
 */
function decodeWhole(bytes: Buffer, decoder: Decoder): Uint8Array | undefined {
  try {
    return decoder.decodeSync(bytes, {
      maxOutputLength: MAX_SYNC_OUTPUT_BYTES,
      chunkSize: decoder.estimateOutputBytes?.(bytes) ?? CHUNK_BYTES,
    });
  } catch {
    return undefined;
  }
}

/**
 * Estimates one chunk for the whole output, from the declared size. Oversized or several chunks leave garbage outside V8's
 * heap, and 8 MB of it trigger a full garbage collection.
 */
function estimateGzipOutputBytes(gzip: Buffer): number {
  if (gzip.length < GZIP_LENGTH_BYTES) return CHUNK_BYTES;
  return (
    Math.min(gzip.readUInt32LE(gzip.length - GZIP_LENGTH_BYTES), MAX_SYNC_OUTPUT_BYTES) + SPARE_OUTPUT_BYTES
  );
}

async function* prepend(first: Uint8Array, rest: Bytes | undefined): AsyncGenerator<Uint8Array> {
  yield first;
  if (rest !== undefined) yield* rest;
}

/** Errors of all parts surface where the result is read, so the callback ignores them. */
function pipeThrough(source: Bytes, decoder: Transform): Bytes {
  return pipeline(source, decoder, () => undefined);
}
