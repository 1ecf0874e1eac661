import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';
import type { Exposition, ExpositionBody } from '../metrics/exposition/exposition.ts';
import type { FamilySelection } from '../metrics/catalogue/family.ts';
import type { ExporterFacade } from './exporter-facade.ts';
import {
  acceptsGzip,
  negotiateFormat,
  respond,
  respondText,
  type WebRequest,
  type WebResponse,
} from './http-messages.ts';

/** Path of the exporter's own metrics, which no poll changes. */
export const OWN_METRICS_PATH = '/-/metrics';

export async function handleScrape(
  facade: ExporterFacade,
  request: WebRequest,
  query: URLSearchParams,
  exposition: Exposition,
): Promise<WebResponse> {
  const [serviceCode, ...others] = query.getAll('service_code');
  if (others.length > 0)
    return respondText(
      400,
      `Expected one service_code, found ${others.length + 1}: scrape each in a request of its own, or all without service_code.`,
    );
  if (serviceCode === '') return respondText(400, 'Expected service_code to have a value, found none.');
  if (serviceCode === undefined) return await respondExposition(facade, request, 'everything', exposition);
  const unknown = facade.explainUnknown(serviceCode);
  if (unknown !== undefined) return respondText(404, unknown);
  return await respondExposition(facade, request, { serviceCode }, exposition);
}

/** Responds with families of the exporter, from the caches of `exposition`. */
export async function respondExposition(
  facade: ExporterFacade,
  { method, headers, signal }: WebRequest,
  selection: FamilySelection,
  exposition: Exposition,
): Promise<WebResponse> {
  const collected = await facade.collect(selection);
  signal?.throwIfAborted();
  const { format, contentType } = negotiateFormat(headers.accept);
  const { body, answered } = exposition.render(selection, collected, format);
  const vary = { Vary: 'Accept, Accept-Encoding' };
  const response = acceptsGzip(headers['accept-encoding'])
    ? respond(200, await gzipExposition(body), contentType, { ...vary, 'Content-Encoding': 'gzip' })
    : respond(200, body.bytes, contentType, vary);
  return method === 'GET' ? { ...response, onSent: answered } : response;
}

/** Level 1 takes less than half the time of the default for a fifth more bytes. */
const LEVEL = 1;
const MAX_CHUNK_BYTES = 256 * 1024;
/** Compressed on the main thread: passing so few bytes to another one and back takes as long. */
const MAX_SYNC_BYTES = 256 * 1024;
/** RFC 1952, 2.3: deflate, no flags, no time, fastest algorithm, unknown operating system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);

const deflateInThread = promisify(deflateRaw);
const deflatedHeads = new WeakMap<Buffer, ReturnType<typeof deflateHead>>();
const gzippedBodies = new WeakMap<ExpositionBody, Promise<Buffer>>();

/**
 * Compresses a body once, or only the metrics of the process if no others have changed: a deflate stream may
 * join parts that were compressed separately (RFC 1951, 3.2.3). Some clients read one gzip member only.
 */
function gzipExposition(body: ExpositionBody): Promise<Buffer> {
  return getOrCreate(gzippedBodies, body, gzipBody);
}

async function gzipBody({ head, tail, byteLength }: ExpositionBody): Promise<Buffer> {
  const { deflated, checksum } = await getOrCreate(deflatedHeads, head, deflateHead);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(tail, checksum), 0);
  trailer.writeUInt32LE(byteLength % 2 ** 32, 4);
  return Buffer.concat([GZIP_HEADER, deflated, await deflate(tail, constants.Z_FINISH), trailer]);
}

/** Compresses bytes without ending the deflate stream. */
async function deflateHead(bytes: Buffer) {
  return { deflated: await deflate(bytes, constants.Z_SYNC_FLUSH), checksum: crc32(bytes) };
}

async function deflate(bytes: Buffer, finishFlush: number): Promise<Buffer> {
  // Output is allocated in chunks: one that holds everything, unless that is a lot.
  const chunkSize = Math.min(MAX_CHUNK_BYTES, Math.max(1024, bytes.length));
  const options = { level: LEVEL, chunkSize, finishFlush };
  return bytes.length <= MAX_SYNC_BYTES
    ? deflateRawSync(bytes, options)
    : await deflateInThread(bytes, options);
}

/** Forgets failures, so that the next reader tries again. */
function getOrCreate<Key extends object, Value>(
  cache: WeakMap<Key, Promise<Value>>,
  key: Key,
  create: (key: Key) => Promise<Value>,
): Promise<Value> {
  let value = cache.get(key);
  if (value === undefined) {
    value = create(key);
    value.catch(() => cache.delete(key));
    cache.set(key, value);
  }
  return value;
}
