import { pipeline, Readable, type Transform } from 'node:stream';
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
import { UpstreamError } from './errors.ts';

/** The codings that {@link BodyDecoder} supports, as a value of `Accept-Encoding`. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

/** One of the server and one of a proxy. Each further one would multiply what a small body can expand to. */
const MAX_CODINGS = 2;

/** Output of one decompression step. */
const CHUNK_BYTES = 64 * 1024;
/** zlib, in a thread of its own, decompresses this much beyond what the consumer has read. */
const READ_AHEAD_BYTES = 256 * 1024;

const STREAM_OPTIONS = { chunkSize: CHUNK_BYTES, readableHighWaterMark: READ_AHEAD_BYTES };

/** A body that arrives faster than it is read would otherwise block the event loop. */
const BYTES_PER_PAUSE = 256 * 1024;

/** A smaller body is decompressed synchronously, unless its output is too large. */
const MAX_SYNC_INPUT_BYTES = 64 * 1024;
const MAX_SYNC_OUTPUT_BYTES = 1024 * 1024;
/** ISIZE at the end of a gzip member: the size of its input modulo 2^32 (RFC 1952, section 2.3.1). */
const GZIP_LENGTH_BYTES = 4;
/** zlib's minimum chunk size. zlib needs spare space in the buffer to notice the end of its input. */
const SPARE_OUTPUT_BYTES = 64;

interface Decoder {
  readonly decodeSync: (
    bytes: Uint8Array,
    options: { readonly maxOutputLength: number; readonly chunkSize: number },
  ) => Buffer;
  readonly createStream: (options: ZlibOptions & { readonly readableHighWaterMark: number }) => Transform;
}

const GZIP: Decoder = { decodeSync: gunzipSync, createStream: createGunzip };
const BROTLI: Decoder = { decodeSync: brotliDecompressSync, createStream: createBrotliDecompress };
const ZLIB: Decoder = { decodeSync: inflateSync, createStream: createInflate };
const RAW_DEFLATE: Decoder = { decodeSync: inflateRawSync, createStream: createInflateRaw };

/** Selects a decoder by the first byte of the body, on which that of `deflate` depends. */
type Coding = (firstByte: number) => Decoder;

const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ['gzip', () => GZIP],
  ['x-gzip', () => GZIP],
  ['br', () => BROTLI],
  // The specification requires the zlib format, but some servers send raw deflate.
  ['deflate', (firstByte: number) => ((firstByte & 0x0f) === 8 ? ZLIB : RAW_DEFLATE)],
]);

/**
 * Parses `Content-Encoding` into codings in the order of their decoding, without `identity`.
 *
 * @throws UpstreamError `not_json` if there are more than 2, or others than the accepted ones.
 */
function parseContentCodings(contentEncoding: string): readonly Coding[] {
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MAX_CODINGS)
    throw new UpstreamError('not_json', `The response has more than ${MAX_CODINGS} content codings`);
  // The header lists codings in the order of their application.
  return names.toReversed().map((name) => {
    const coding = CODINGS.get(name);
    if (coding !== undefined) return coding;
    throw new UpstreamError('not_json', `The response has a content coding other than ${ACCEPTED_CODINGS}`);
  });
}

/** Receives a decoded body. */
export interface BodyListener {
  /** Called with the size of each output of a coding: an inner one may consume much and pass on nothing. */
  onDecoded(bytes: number): void;
  onChunk(chunk: Uint8Array): void;
  /** Called with a zlib error for a broken or truncated body. */
  onBodyError(error: unknown): void;
  onBodyEnd(): void;
  /** Called some time after `write` has returned false: the next chunk can be written. */
  onDrain(): void;
}

/** Decodes the content codings of a body (RFC 9110, section 8.4) as it arrives. */
export class BodyDecoder implements Disposable {
  readonly #codings: readonly Coding[];
  readonly #listener: BodyListener;
  /** What has arrived of a body that may be small enough to be decompressed at once. */
  readonly #start: Uint8Array[] = [];
  #startBytes = 0;
  /** Takes the chunks of a larger body. */
  #source: Readable | undefined;
  #bytesSincePause = 0;

  /** @throws UpstreamError `not_json` for codings that are not supported */
  constructor(contentEncoding: string, listener: BodyListener) {
    this.#codings = parseContentCodings(contentEncoding);
    this.#listener = listener;
  }

  get isCompressed(): boolean {
    return this.#codings.length > 0;
  }

  /** Returns false if the next chunk should wait for `onDrain`. */
  write(chunk: Uint8Array): boolean {
    if (!this.isCompressed) return this.#passOn(chunk);
    if (this.#source !== undefined) return this.#source.push(chunk);
    this.#start.push(chunk);
    this.#startBytes += chunk.length;
    return this.#startBytes < MAX_SYNC_INPUT_BYTES || this.#startStream();
  }

  end(): void {
    const [coding, ...more] = this.#codings;
    const isSmall = coding !== undefined && this.#source === undefined && more.length === 0;
    const whole = isSmall ? decodeWhole(Buffer.concat(this.#start), coding) : undefined;
    if (whole !== undefined) this.#passOn(whole);
    if (whole !== undefined || coding === undefined) {
      this.#listener.onBodyEnd();
      return;
    }
    if (this.#source === undefined) this.#startStream();
    this.#source?.push(null);
  }

  /** Stops decoding; the body gets no further chunk. */
  [Symbol.dispose](): void {
    this.#source?.destroy();
  }

  #passOn(chunk: Uint8Array): boolean {
    this.#listener.onDecoded(chunk.length);
    this.#listener.onChunk(chunk);
    this.#bytesSincePause += chunk.length;
    if (this.#bytesSincePause < BYTES_PER_PAUSE) return true;
    this.#bytesSincePause = 0;
    setImmediate(() => this.#listener.onDrain());
    return false;
  }

  #startStream(): boolean {
    const source = new Readable({ read: () => this.#listener.onDrain() });
    this.#source = source;
    void this.#readStream(source);
    return source.push(Buffer.concat(this.#start.splice(0)));
  }

  async #readStream(source: AsyncIterable<Uint8Array>): Promise<void> {
    let decoded = source;
    for (const coding of this.#codings) decoded = this.#count(decode(decoded, coding));
    try {
      for await (const chunk of decoded) this.#listener.onChunk(chunk);
      this.#listener.onBodyEnd();
    } catch (error) {
      this.#listener.onBodyError(error);
    }
  }

  async *#count(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#listener.onDecoded(chunk.length);
      yield chunk;
    }
  }
}

async function* decode(source: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  async function* readAll(): AsyncGenerator<Uint8Array> {
    if (first.done === true) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const decoder = coding(first.done === true ? 0 : (first.value[0] ?? 0));
  // Errors surface where the result is read, so the callback ignores them.
  yield* pipeline(readAll, decoder.createStream(STREAM_OPTIONS), () => undefined);
}

/**
 * Decodes a small body without a stream, which would cost more than the rest of the poll. Returns `undefined` for a broken
 * body or a large output; a stream then decodes it.
 */
function decodeWhole(bytes: Buffer, coding: Coding): Uint8Array | undefined {
  const decoder = coding(bytes[0] ?? 0);
  try {
    return decoder.decodeSync(bytes, {
      maxOutputLength: MAX_SYNC_OUTPUT_BYTES,
      chunkSize: decoder === GZIP ? estimateGzipOutputBytes(bytes) : CHUNK_BYTES,
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
