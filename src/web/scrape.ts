import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { renderBlocks } from '../metrics/exposition.ts';
import type { ExporterFacade, FamilySelection } from './exporter-facade.ts';
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
): Promise<WebResponse> {
  const [serviceCode, ...others] = query.getAll('service_code');
  if (others.length > 0)
    return respondText(
      400,
      `Expected one service_code, found ${others.length + 1}: scrape each in a request of its own, or all without service_code.`,
    );
  if (serviceCode === '') return respondText(400, 'Expected service_code to have a value, found none.');
  if (serviceCode === undefined) return await respondExposition(facade, request, 'everything');
  const unknown = facade.explainUnknown(serviceCode);
  if (unknown !== undefined) return respondText(404, unknown);
  return await respondExposition(facade, request, { serviceCode });
}

/** Responds with families of the exporter. */
export async function respondExposition(
  facade: ExporterFacade,
  { headers, signal }: WebRequest,
  selection: FamilySelection,
): Promise<WebResponse> {
  const families = await facade.collect(selection);
  signal.throwIfAborted();
  const { format, contentType } = negotiateFormat(headers.accept);
  const blocks = renderBlocks(families, format, facade.getLastBody(selection));
  const vary = { Vary: 'Accept, Accept-Encoding' };
  return acceptsGzip(headers['accept-encoding'])
    ? respond(200, await gzipBlocks(blocks, signal), contentType, { ...vary, 'Content-Encoding': 'gzip' })
    : respond(200, Buffer.concat([...blocks]), contentType, vary);
}

const NO_BYTES = Buffer.alloc(0);

/** Level 1 takes less than half the time of the default for a fifth more bytes. */
const GZIP = { level: 1, chunkSize: 64 * 1024 };

/** Compresses a body block by block: it never exists as a whole. */
async function gzipBlocks(blocks: Generator<Buffer, void>, signal: AbortSignal): Promise<Buffer> {
  const first = blocks.next().value ?? NO_BYTES;
  const second = blocks.next().value;
  // One block takes a few milliseconds.
  if (second === undefined) return gzipSync(first, GZIP);
  const gzip = createGzip(GZIP);
  gzip.write(first);
  gzip.write(second);
  return await pipeline(Readable.from(blocks, { objectMode: false }), gzip, buffer, { signal });
}
