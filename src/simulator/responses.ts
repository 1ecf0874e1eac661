import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { Clock } from '../runtime/clock.ts';
import {
  toChunks,
  takeFirstHalf,
  serializeObject,
  replaceMember,
  corruptFields,
  corruptRecords,
  generateWhiteSpace,
  type Member,
} from './body.ts';
import type { ResponseFault } from './faults.ts';

/** A request to be answered. */
export interface ResponseContext {
  readonly response: ServerResponse;
  /** Whether the response may be compressed. */
  readonly canGzip: boolean;
  /** The members of the response if there is no fault. */
  readonly members: readonly Member[];
  readonly clock: Clock;
}

const JSON_HEADERS = { 'content-type': 'application/json' };
const HTML_HEADERS = { 'content-type': 'text/html; charset=utf-8' };
const MAINTENANCE_PAGE = '<!doctype html><title>Maintenance</title><p>Please come back later.</p>\n';

/** Creates a response without entries ("Errors": every body has `ret`). */
export function createEmptyListing(ret: number | string): readonly Member[] {
  return [
    { name: 'ret', json: JSON.stringify(ret) },
    { name: 'user_list', records: [] },
    { name: 'task_list', records: [] },
  ];
}

/** Sends a listing. Resolves when it is sent; rejects if the client disconnects. */
export async function sendListing(context: ResponseContext): Promise<void> {
  await sendChunks(context, serializeBody(context.members));
}

/** Sends a response with a fault. Settles when the exchange is over. */
export async function sendFaultyResponse(context: ResponseContext, fault: ResponseFault): Promise<void> {
  const { response, members } = context;
  switch (fault.fault) {
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
    case 'http_status':
      return sendStatus(context, fault);
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
      response.writeHead(200, { ...JSON_HEADERS, 'content-encoding': 'gzip' });
      return await pipeline(Readable.from(serializeBody(members), { objectMode: false }), response);
    case 'ret':
      return await sendListing({ ...context, members: createEmptyListing(fault.value) });
    case 'truncate':
      return await sendChunks(context, takeFirstHalf(serializeBody(members)));
    case 'bad_list':
      return await sendListing({
        ...context,
        members: replaceMember(members, fault.list, BAD_LIST_VALUES[fault.form]),
      });
    case 'bad_record':
      return await sendListing({ ...context, members: corruptRecords(members, fault.every) });
    case 'bad_field':
      return await sendListing({ ...context, members: corruptFields(members, fault.every) });
    case 'clock_skew':
      // Authentication has used the skewed clock.
      return await sendListing(context);
    case 'huge':
      return await sendChunks(context, prependWhiteSpace(members, fault.bytes ?? Infinity));
  }
}

const BAD_LIST_VALUES = { missing: undefined, null: 'null', object: '{}' } as const;

function serializeBody(members: readonly Member[]): Iterable<Buffer> {
  return toChunks(serializeObject(members));
}

function* prependWhiteSpace(members: readonly Member[], bytes: number): Generator<Buffer, void, undefined> {
  yield* generateWhiteSpace(bytes);
  yield* serializeBody(members);
}

/** Sends a body with backpressure. */
async function sendChunks({ response, canGzip }: ResponseContext, chunks: Iterable<Buffer>): Promise<void> {
  const body = Readable.from(chunks, { objectMode: false });
  response.writeHead(200, canGzip ? { ...JSON_HEADERS, 'content-encoding': 'gzip' } : JSON_HEADERS);
  if (canGzip) await pipeline(body, createGzip({ level: constants.Z_BEST_SPEED }), response);
  else await pipeline(body, response);
}

/** Sends the headers and a part of the body, uncompressed, and waits until the kernel has them. */
async function sendPartialBody({ response, members }: ResponseContext): Promise<void> {
  response.writeHead(200, JSON_HEADERS);
  for (const chunk of takeFirstHalf(serializeBody(members))) {
    await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
  }
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

function sendStatus(
  { response }: ResponseContext,
  fault: Extract<ResponseFault, { fault: 'http_status' }>,
): void {
  const retryAfter = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
  const isJson = fault.body === 'json';
  response.writeHead(fault.status, { ...(isJson ? JSON_HEADERS : HTML_HEADERS), ...retryAfter });
  response.end(
    isJson ? Buffer.concat([...serializeBody(createEmptyListing(fault.status))]) : MAINTENANCE_PAGE,
  );
}
