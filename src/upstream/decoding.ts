import { pipeline } from 'node:stream';
import { createInflateRaw, createUnzip, inflateRawSync, unzipSync } from 'node:zlib';
import type { TurnGate } from './turn-gate.ts';
import { UpstreamError } from './errors.ts';

export const ACCEPTED_CODINGS = 'gzip, deflate';
/** The code of the error of a body in another coding, which was not read. */
export const UNACCEPTED_CODING = 'UNACCEPTED_CODING';

/** zlib, in a thread of its own, decompresses this much beyond what the consumer has read. */
const READ_AHEAD_BYTES = 256 * 1024;
/** Each step outputs at most this much, so that reading it takes a small part of a turn of the event loop. */
const CHUNK_BYTES = 64 * 1024;
const STREAM_OPTIONS = { chunkSize: CHUNK_BYTES, readableHighWaterMark: READ_AHEAD_BYTES };

/** Bodies up to these sizes are decompressed in one call: a stream costs three times as much. */
const MAX_SYNC_INPUT_BYTES = 64 * 1024;
const MAX_SYNC_OUTPUT_BYTES = 1024 * 1024;
/** ISIZE at the end of a gzip member: the size of its input modulo 2^32 (RFC 1952, section 2.3.1). */
const GZIP_LENGTH_BYTES = 4;
/** zlib's minimum chunk size. zlib needs spare space in the buffer to notice the end of its input. */
const SPARE_OUTPUT_BYTES = 64;

const CODINGS = ['gzip', 'x-gzip', 'deflate'] as const;
type Coding = (typeof CODINGS)[number];

/**
 * Finds the coding of a body (RFC 9110, section 8.4); `undefined` if it is sent as it is.
 *
 * @throws UpstreamError `not_json` for several codings: each would multiply what a small body can expand to
 */
export function parseContentEncoding(contentEncoding: string): Coding | undefined {
  const [name, ...more] = contentEncoding
    .toLowerCase()
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '' && text !== 'identity');
  const fail = (found: string): UpstreamError =>
    new UpstreamError('not_json', `The response has ${found}`, { code: UNACCEPTED_CODING });
  if (more.length > 0) throw fail('more than one content coding');
  if (name === undefined) return undefined;
  const coding = CODINGS.find((known) => known === name);
  if (coding !== undefined) return coding;
  throw fail(`a content coding other than ${ACCEPTED_CODINGS}`);
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Removes the byte order mark that some servers send; returns nothing while the start may be part of it. */
export function skipByteOrderMark(start: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  const isMark = BYTE_ORDER_MARK.subarray(0, start.length).equals(start.subarray(0, length));
  return isMark ? start.subarray(length) : start;
}

/** Decompresses a body as it arrives. `onBytes` receives the size of each chunk before that. */
export async function* decompress(
  body: AsyncIterable<Buffer>,
  coding: Coding,
  gate: TurnGate,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]();
  const start: Buffer[] = [];
  let startBytes = 0;
  while (startBytes < MAX_SYNC_INPUT_BYTES) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    onBytes(value.length);
    start.push(value);
    startBytes += value.length;
  }
  const head = Buffer.concat(start);
  // The specification requires the zlib format of `deflate`, but some servers send raw deflate.
  const isRaw = coding === 'deflate' && ((head[0] ?? 0) & 0x0f) !== 8;
  const isSmall = startBytes < MAX_SYNC_INPUT_BYTES;
  const whole = isSmall ? await gate.run(() => decompressWhole(head, coding, isRaw)) : undefined;
  if (whole !== undefined) {
    for (let from = 0; from < whole.length; from += CHUNK_BYTES)
      yield whole.subarray(from, from + CHUNK_BYTES);
    return;
  }
  async function* readAll(): AsyncGenerator<Buffer> {
    yield head;
    for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) {
      onBytes(chunk.length);
      yield chunk;
    }
  }
  // Errors surface where the result is read, so the callback ignores them.
  const decoder = isRaw ? createInflateRaw(STREAM_OPTIONS) : createUnzip(STREAM_OPTIONS);
  yield* pipeline(readAll, decoder, () => undefined);
}

/** Returns `undefined` for a broken body or a large output; a stream then decompresses it. */
function decompressWhole(bytes: Buffer, coding: Coding, isRaw: boolean): Buffer | undefined {
  const chunkSize = coding === 'deflate' ? CHUNK_BYTES : estimateGzipOutputBytes(bytes);
  const options = { maxOutputLength: MAX_SYNC_OUTPUT_BYTES, chunkSize };
  try {
    return isRaw ? inflateRawSync(bytes, options) : unzipSync(bytes, options);
  } catch {
    return undefined;
  }
}

/**
 * Estimates the size of the output, so that one chunk holds it: a larger chunk, or several, leave garbage
 * outside V8's heap, and 8 MB of it trigger a full garbage collection.
 */
function estimateGzipOutputBytes(gzip: Buffer): number {
  if (gzip.length < GZIP_LENGTH_BYTES) return CHUNK_BYTES;
  return (
    Math.min(gzip.readUInt32LE(gzip.length - GZIP_LENGTH_BYTES), MAX_SYNC_OUTPUT_BYTES) + SPARE_OUTPUT_BYTES
  );
}
