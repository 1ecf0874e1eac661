import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { Clock } from '../../src/runtime/clock.ts';
import { corruptRecords, prependWhiteSpace, serializeBody, type Members } from './body.ts';
import type { ResponseFault } from './faults.ts';

/** A request to be answered. */
export interface ResponseContext {
  readonly response: ServerResponse;
  /** Whether the response may be compressed. */
  readonly canGzip: boolean;
  /** The members of the response if there is no fault. */
  readonly members: Members;
  readonly clock: Clock;
}

const JSON_HEADERS = { 'content-type': 'application/json' };
const HTML_HEADERS = { 'content-type': 'text/html; charset=utf-8' };
const MAINTENANCE_PAGE = '<!doctype html><title>Maintenance</title><p>Please come back later.</p>\n';

const BAD_LISTS = { null: null, object: {} };

/** Creates the members of a response without entries ("Errors": every body has `ret`). */
export function createEmptyListing(ret: number | string): Members {
  return { ret, user_list: [], task_list: [] };
}

/** Sends a response, as the fault demands if there is one. Settles when the exchange is over. */
export async function sendResponse(context: ResponseContext, fault?: ResponseFault): Promise<void> {
  const { response, members } = context;
  switch (fault?.fault) {
    case undefined:
    case 'clock_skew': // Authentication has used the skewed clock.
      return await sendChunks(context, serializeBody(members));
    case 'refuse':
      response.socket?.destroy();
      return;
    case 'reset_headers':
      response.socket?.resetAndDestroy();
      return;
    case 'silence':
      await once(response, 'close');
      return;
    case 'reset_body':
      await sendPartialBody(context);
      response.socket?.resetAndDestroy();
      return;
    case 'silence_body':
      await sendPartialBody(context);
      await once(response, 'close');
      return;
    case 'drip':
      return await sendBytePerSecond(context);
    case 'http_status': {
      const { status, retryAfter, body } = fault;
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      response.writeHead(status, body === 'json' ? JSON_HEADERS : HTML_HEADERS);
      response.end(body === 'json' ? JSON.stringify(createEmptyListing(status)) : MAINTENANCE_PAGE);
      return;
    }
    case 'redirect':
      response.writeHead(302, { location: fault.location }).end();
      return;
    case 'html':
      response.writeHead(200, HTML_HEADERS).end(MAINTENANCE_PAGE);
      return;
    case 'empty':
      response.writeHead(200, { ...JSON_HEADERS, 'content-length': 0 }).end();
      return;
    case 'bad_gzip':
      response.setHeader('content-encoding', 'gzip');
      return await sendChunks({ ...context, canGzip: false }, serializeBody(members));
    case 'ret':
      return await sendChunks(context, serializeBody(createEmptyListing(fault.value)));
    case 'truncate':
      return await sendChunks(context, [takeFirstHalf(members)]);
    case 'bad_list': {
      const { [fault.list]: _list, ...others } = members;
      const changed = fault.form === 'missing' ? others : { ...members, [fault.list]: BAD_LISTS[fault.form] };
      return await sendChunks(context, serializeBody(changed));
    }
    case 'bad_record':
      return await sendChunks(context, serializeBody(corruptRecords(members, 'record', fault.every)));
    case 'bad_field':
      return await sendChunks(context, serializeBody(corruptRecords(members, 'field', fault.every)));
    case 'huge':
      return await sendChunks(context, prependWhiteSpace(fault.bytes ?? Infinity, members));
  }
}

/** Sends a body with backpressure. */
async function sendChunks({ response, canGzip }: ResponseContext, chunks: Iterable<Buffer>): Promise<void> {
  const body = Readable.from(chunks, { objectMode: false });
  response.writeHead(200, canGzip ? { ...JSON_HEADERS, 'content-encoding': 'gzip' } : JSON_HEADERS);
  if (canGzip) await pipeline(body, createGzip({ level: constants.Z_BEST_SPEED }), response);
  else await pipeline(body, response);
}

function takeFirstHalf(members: Members): Buffer {
  const [first = Buffer.alloc(0)] = serializeBody(members);
  return first.subarray(0, Math.ceil(first.length / 2));
}

/** Sends the headers and a part of the body, uncompressed, and waits until the kernel has them. */
async function sendPartialBody({ response, members }: ResponseContext): Promise<void> {
  response.writeHead(200, JSON_HEADERS);
  await new Promise<void>((resolve) => response.write(takeFirstHalf(members), () => resolve()));
}

/** Sends one byte per second, uncompressed, until the body ends or the client disconnects. */
async function sendBytePerSecond({ response, members, clock }: ResponseContext): Promise<void> {
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  response.writeHead(200, JSON_HEADERS);
  for (const chunk of serializeBody(members)) {
    for (let at = 0; at < chunk.length; at += 1) {
      response.write(chunk.subarray(at, at + 1));
      await clock.sleep(1000, disconnected.signal);
    }
  }
  response.end();
}
