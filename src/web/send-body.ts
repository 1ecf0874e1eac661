import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { WebResponse } from './response.ts';

/**
 * A connection gets the next slice when the previous one is on its way. TLS encrypts all that it is given, so that each
 * slow client would hold an encrypted copy of a whole body that clients share.
 */
const SLICE_BYTES = 256 * 1024;

/** Ends a response with its body. */
export function sendBody(response: ServerResponse, body: WebResponse['body']): void {
  if (typeof body === 'string' || body.length <= SLICE_BYTES) response.end(body);
  // Fails only if the client disconnects, which the response reports too.
  else pipeline(Readable.from(slice(body), { objectMode: false }), response, () => undefined);
}

function* slice(body: Buffer): Generator<Buffer, void, undefined> {
  for (let start = 0; start < body.length; start += SLICE_BYTES)
    yield body.subarray(start, start + SLICE_BYTES);
}
