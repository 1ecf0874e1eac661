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
} from 'node:zlib';

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

/** A body of fewer bytes is decompressed in one step, if that does not give more than it should. */
const SMALL_BYTES = 64 * 1024;
const MAX_BYTES_AT_ONCE = 1024 * 1024;
/** The end of a gzip member: its length before compression, modulo 2^32 (RFC 1952, section 2.3.1). */
const GZIP_LENGTH_BYTES = 4;
/** The least that zlib takes for a chunk; as spare room, it tells zlib that it has reached the end. */
const SPARE_BYTES = 64;

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

/** How a content coding is undone: a small body at once, another as it comes. */
interface Decoder {
  readonly atOnce: (
    bytes: Uint8Array,
    options: { readonly maxOutputLength: number; readonly chunkSize: number },
  ) => Buffer;
  readonly asItComes: (options: { readonly chunkSize: number }) => Transform;
  /** Room for all that a body decodes to, where the body says how much that is. */
  readonly roomFor?: (bytes: Buffer) => number;
}

const GZIP: Decoder = { atOnce: gunzipSync, asItComes: createGunzip, roomFor: roomForGzip };
const BROTLI: Decoder = { atOnce: brotliDecompressSync, asItComes: createBrotliDecompress };
const ZLIB: Decoder = { atOnce: inflateSync, asItComes: createInflate };
const BARE_DEFLATE: Decoder = { atOnce: inflateRawSync, asItComes: createInflateRaw };

/** By coding; of one of them, the first byte of the body tells which it is. */
const DECODERS = new Map<string, (first: number) => Decoder>([
  ['gzip', () => GZIP],
  ['x-gzip', () => GZIP],
  ['br', () => BROTLI],
  // The zlib format by its definition, and bare deflate from many a server.
  ['deflate', (first) => ((first & 0x0f) === 8 ? ZLIB : BARE_DEFLATE)],
]);

async function* decode(source: Bytes, coding: string): AsyncGenerator<Uint8Array> {
  const decoderOf = DECODERS.get(coding);
  if (decoderOf === undefined) {
    throw new UpstreamError('not_json', `The answer has a content coding other than ${ACCEPTED_CODINGS}`);
  }
  const { start, rest } = await begin(source);
  const decoder = decoderOf(start[0] ?? 0);
  const whole = rest === undefined ? decodedAtOnce(start, decoder) : undefined;
  if (whole === undefined)
    yield* through(prepend(start, rest), decoder.asItComes({ chunkSize: CHUNK_BYTES }));
  else yield whole;
}

/** How a body begins, and what comes behind that; nothing, if that was all of it. */
interface Begun {
  readonly start: Buffer;
  readonly rest: Bytes | undefined;
}

async function begin(source: Bytes): Promise<Begun> {
  const chunks = source[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  for (let length = 0; length < SMALL_BYTES; length += pieces.at(-1)?.length ?? 0) {
    const next = await chunks.next();
    if (next.done === true) return { start: Buffer.concat(pieces), rest: undefined };
    pieces.push(next.value);
  }
  return { start: Buffer.concat(pieces), rest: { [Symbol.asyncIterator]: () => chunks } };
}

/** A stream for each small body would cost more than all else of its poll. What is broken, or swells, is left to one. */
function decodedAtOnce(bytes: Buffer, decoder: Decoder): Uint8Array | undefined {
  try {
    return decoder.atOnce(bytes, {
      maxOutputLength: MAX_BYTES_AT_ONCE,
      chunkSize: decoder.roomFor?.(bytes) ?? CHUNK_BYTES,
    });
  } catch {
    return undefined;
  }
}

/**
 * One chunk that fits, as far as gzip can be believed. What is left empty, or put together of several, is garbage outside
 * of V8's heap, of which eight megabytes are enough to make it collect the whole heap.
 */
function roomForGzip(gzip: Buffer): number {
  if (gzip.length < GZIP_LENGTH_BYTES) return CHUNK_BYTES;
  return Math.min(gzip.readUInt32LE(gzip.length - GZIP_LENGTH_BYTES), MAX_BYTES_AT_ONCE) + SPARE_BYTES;
}

async function* prepend(first: Uint8Array, rest: Bytes | undefined): AsyncGenerator<Uint8Array> {
  yield first;
  if (rest !== undefined) yield* rest;
}

/** The errors of every part come out where the result is read, so the callback has nothing left to tell. */
function through(source: Bytes, decoder: Transform): Bytes {
  return pipeline(source, decoder, () => undefined);
}
