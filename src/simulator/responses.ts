import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { Clock } from '../clock.ts';
import {
  chunksOf,
  firstHalf,
  objectText,
  replaceMember,
  spoilRecords,
  whiteSpace,
  type Member,
} from './body.ts';
import type { ResponseFault } from './faults.ts';

/** A call that waits for its answer. */
export interface Call {
  readonly response: ServerResponse;
  /** Whether the answer may be compressed. */
  readonly gzip: boolean;
  /** What the answer holds when nothing goes wrong. */
  readonly members: readonly Member[];
  readonly clock: Clock;
}

const json = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html; charset=utf-8' };
const page = '<!doctype html><title>Maintenance</title><p>Please come back later.</p>\n';

/** The members of an answer without entries ("Errors": every body carries `ret`). */
export function emptyAnswer(ret: number | string): readonly Member[] {
  return [
    { name: 'ret', json: JSON.stringify(ret) },
    { name: 'user_list', records: [] },
    { name: 'task_list', records: [] },
  ];
}

/** Answers a call as the service does. Settles when the answer has gone out, rejects when the caller has left. */
export async function answer(call: Call): Promise<void> {
  await sendChunks(call, bodyOf(call.members));
}

/** Answers a call with a fault. Settles when nothing more is going to happen. */
export async function answerWrongly(call: Call, fault: ResponseFault): Promise<void> {
  const { response } = call;
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
      await sendPart(call);
      response.socket?.resetAndDestroy();
      return;
    case 'silence_body':
      await sendPart(call);
      await once(response, 'close');
      return;
    case 'drip':
      await drip(call);
      return;
    case 'http_status':
      sendStatus(call, fault);
      return;
    case 'redirect':
      response.writeHead(302, { location: fault.location }).end();
      return;
    case 'ret':
      await sendChunks(call, bodyOf(emptyAnswer(fault.value)));
      return;
    case 'html':
      response.writeHead(200, html).end(page);
      return;
    case 'empty':
      response.writeHead(200, { ...json, 'content-length': 0 }).end();
      return;
    case 'bad_gzip':
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' });
      await pipeline(Readable.from(bodyOf(call.members), { objectMode: false }), response);
      return;
    case 'truncate':
      await sendChunks(call, firstHalf(bodyOf(call.members)));
      return;
    case 'bad_list':
      await sendChunks(call, bodyOf(replaceMember(call.members, fault.list, badForms[fault.form])));
      return;
    case 'bad_record':
      await sendChunks(call, bodyOf(spoilRecords(call.members, fault.every)));
      return;
    case 'clock_skew':
      // The call was judged by that clock.
      await answer(call);
      return;
    case 'huge':
      await sendChunks(call, padded(call.members, fault.bytes ?? Infinity));
      return;
  }
}

const badForms = { missing: undefined, null: 'null', object: '{}' } as const;

function bodyOf(members: readonly Member[]): Iterable<Buffer> {
  return chunksOf(objectText(members));
}

function* padded(members: readonly Member[], bytes: number): Generator<Buffer, void, undefined> {
  yield* whiteSpace(bytes);
  yield* bodyOf(members);
}

/** Sends a body at the pace that the caller takes it. */
async function sendChunks({ response, gzip }: Call, chunks: Iterable<Buffer>): Promise<void> {
  const body = Readable.from(chunks, { objectMode: false });
  response.writeHead(200, gzip ? { ...json, 'content-encoding': 'gzip' } : json);
  if (gzip) await pipeline(body, createGzip({ level: constants.Z_BEST_SPEED }), response);
  else await pipeline(body, response);
}

/** Sends the headers and a part of the body, uncompressed, and waits until they have left the process. */
async function sendPart({ response, members }: Call): Promise<void> {
  response.writeHead(200, json);
  for (const chunk of firstHalf(bodyOf(members))) {
    await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
  }
}

/** One byte per second, uncompressed, until the body ends or the caller leaves. */
async function drip({ response, members, clock }: Call): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  response.writeHead(200, json);
  for (const chunk of bodyOf(members)) {
    for (let at = 0; at < chunk.length; at += 1) {
      response.write(chunk.subarray(at, at + 1));
      await clock.sleep(1000, left.signal);
    }
  }
  response.end();
}

function sendStatus({ response }: Call, fault: Extract<ResponseFault, { fault: 'http_status' }>): void {
  const retryAfter = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
  const isJson = fault.body === 'json';
  response.writeHead(fault.status, { ...(isJson ? json : html), ...retryAfter });
  response.end(isJson ? Buffer.concat([...bodyOf(emptyAnswer(fault.status))]) : page);
}
