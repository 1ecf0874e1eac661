import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { formatShard, type Shard } from '../sharding/shard.ts';
import { acceptsGzip } from './content-negotiation.ts';

/** An HTTP response without its socket. */
export interface WebResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** Called when the body has been sent. */
  readonly onSent?: (() => void) | undefined;
}

/** Body of the 400 to plain HTTP on a TLS port, in the words of Go's servers. `healthcheck` recognises TLS by it. */
export const PLAIN_HTTP_TO_TLS = 'Client sent an HTTP request to an HTTPS server.';

const gzipInThread = promisify(gzip);

/** Builds a response that caches must not store and browsers must not sniff. */
export function respond(
  status: number,
  body: string | Buffer,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): WebResponse {
  return {
    status,
    headers: {
      'Content-Type': contentType,
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
    body,
  };
}

/** Builds a response of one line of plain text. */
export function respondText(
  status: number,
  line: string,
  headers: Readonly<Record<string, string>> = {},
): WebResponse {
  return respond(status, `${line}\n`, 'text/plain; charset=utf-8', headers);
}

/** Explains a 404 without the service code; `otherShard` is the index of the shard that polls it. */
export function describeUnknownServiceCode(shard: Shard, otherShard: number | undefined): string {
  return otherShard === undefined
    ? 'No such service code is configured.'
    : `Shard ${otherShard} polls this service code; this is ${formatShard(shard)}.`;
}

/** Builds a 404 for an unknown service code. */
export function respondUnknownServiceCode(shard: Shard, otherShard: number | undefined): WebResponse {
  return respondText(404, describeUnknownServiceCode(shard, otherShard));
}

/** Builds a 200 response, compressed if the client accepts gzip. */
export async function respondCompressed(
  body: string,
  contentType: string,
  { 'accept-encoding': acceptEncoding }: IncomingHttpHeaders,
  headers: Readonly<Record<string, string>>,
): Promise<WebResponse> {
  if (!acceptsGzip(acceptEncoding)) return respond(200, body, contentType, headers);
  const compressed = await gzipInThread(body, { level: 1 });
  return respond(200, compressed, contentType, { ...headers, 'Content-Encoding': 'gzip' });
}
