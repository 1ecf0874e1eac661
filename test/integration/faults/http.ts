import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  respondWithBody,
  respondEndlessly,
  formatHead,
  respondWith,
  respondAndClose,
  injectSimulatorFault,
} from '../fault-actions.ts';
import { MAX_RESPONSE_BYTES } from '../rig-configuration.ts';
import type { Fault } from './fault.ts';
import { LISTING, LONG_LISTING, CHUNKED_HEADER, GZIP_HEADER, LENGTH_HEADER, GZIP_BOMB } from './listing.ts';

/** The framing of the response violates HTTP. */
export const FRAMING: readonly Fault[] = [
  {
    name: 'a body that ends before its length',
    make: respondAndClose(formatHead(LENGTH_HEADER), LISTING.slice(0, -5)),
    reason: 'reset',
    ret: 'any',
  },
  {
    name: 'a length that is too large, and an open connection',
    make: respondWith(formatHead(`content-length: ${LISTING.length + 1}`), LISTING),
    reason: 'timeout',
    ret: 0,
  },
  {
    name: 'a length that is too small',
    make: respondWith(formatHead(`content-length: ${LISTING.length - 1}`), LISTING),
    reason: 'not_json',
    ret: 0,
    bytes: LISTING.length - 1,
  },
  {
    name: 'a length that is not a number',
    make: respondWith(formatHead('content-length: all'), LISTING),
    reason: 'not_json',
  },
  {
    name: 'a body that ends within a chunk',
    make: respondAndClose(formatHead(CHUNKED_HEADER), '40\r\n{"ret":0,'),
    reason: 'reset',
    ret: 'any',
  },
  {
    name: 'a body that ends before the last chunk',
    make: respondAndClose(formatHead(CHUNKED_HEADER), `${LISTING.length.toString(16)}\r\n${LISTING}\r\n`),
    reason: 'reset',
    ret: 'any',
  },
  {
    name: 'a chunk whose length is not a number',
    make: respondWith(formatHead(CHUNKED_HEADER), `xyz\r\n${LISTING}`),
    reason: 'not_json',
  },
  {
    name: 'half a listing with valid framing',
    make: injectSimulatorFault({ fault: 'truncate' }),
    reason: 'not_json',
    ret: 0,
  },
  { name: 'something that is not HTTP', make: respondWith('SSH-2.0-OpenSSH_9.2p1\r\n'), reason: 'not_json' },
  {
    name: 'an endless header',
    make: respondEndlessly('HTTP/1.1 200 OK\r\nx-filling: ', Buffer.alloc(4096, 'x')),
    reason: 'too_large',
  },
];

/** The body cannot be decoded, or exceeds the limit after decoding. */
export const ENCODINGS: readonly Fault[] = [
  {
    name: 'plain text declared as gzip',
    make: injectSimulatorFault({ fault: 'bad_gzip' }),
    reason: 'not_json',
  },
  {
    name: 'a gzip stream that ends too early',
    make: respondWithBody(gzipSync(LONG_LISTING).subarray(0, 60), GZIP_HEADER),
    reason: 'not_json',
    ret: 'any',
  },
  {
    name: 'a gzip stream with a wrong byte',
    make: respondWithBody(corruptByte(gzipSync(LISTING)), GZIP_HEADER),
    reason: 'not_json',
    ret: 'any',
  },
  {
    name: 'a brotli stream that ends too early',
    make: respondWithBody(brotliCompressSync(LONG_LISTING).subarray(0, 30), 'content-encoding: br'),
    reason: 'not_json',
    ret: 'any',
  },
  {
    name: 'an unknown encoding',
    make: respondWithBody(LISTING, 'content-encoding: zstd'),
    reason: 'not_json',
  },
  {
    name: 'more encodings than the limit',
    make: respondWithBody(LISTING, `content-encoding: ${'gzip,'.repeat(20)}`),
    reason: 'not_json',
  },
  { name: 'a gzip bomb', make: respondWithBody(GZIP_BOMB, GZIP_HEADER), reason: 'too_large' },
  {
    name: 'a gzip bomb within another',
    make: respondWithBody(gzipSync(GZIP_BOMB), 'content-encoding: gzip, gzip'),
    reason: 'too_large',
  },
  {
    name: 'a body over the limit, with its length',
    make: respondEndlessly(
      formatHead(`content-length: ${MAX_RESPONSE_BYTES + 1}`),
      Buffer.alloc(65_536, ' '),
    ),
    reason: 'too_large',
  },
  {
    name: 'a body over the limit, without its length',
    make: injectSimulatorFault({ fault: 'huge', bytes: 2 * MAX_RESPONSE_BYTES }),
    reason: 'too_large',
  },
  { name: 'an endless body', make: injectSimulatorFault({ fault: 'huge' }), reason: 'too_large' },
];

function corruptByte(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.length - 6;
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}
