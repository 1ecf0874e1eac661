import type { IncomingHttpHeaders } from 'node:http';
import type { Exposition } from '../metrics/exposition.ts';
import type { FamilySelection } from '../metrics/family.ts';
import { acceptsGzip, negotiateFormat } from './content-negotiation.ts';
import type { ExporterFacade } from './exporter-facade.ts';
import { gzipExposition } from './exposition-gzip.ts';
import type { WebRequest } from './request.ts';
import { respond, respondText, respondUnknownServiceCode, type WebResponse } from './response.ts';

/** Values of `collect[]`, the parameter by which node_exporter selects collectors. */
const COLLECTORS = ['exporter', 'service_codes'] as const;
const MAX_ECHOED_CHARS = 40;

/** Responds to a scrape. In scrape mode GET waits for polls; HEAD does not, because it discards their result. */
export async function handleScrape(
  facade: ExporterFacade,
  { method, headers, signal }: WebRequest,
  query: URLSearchParams,
  exposition: Exposition,
): Promise<WebResponse> {
  let selection = parseSelection(query, facade);
  if (method === 'GET' && !isErrorResponse(selection)) {
    await facade.refresh({ selection, timeoutMs: parseScrapeTimeoutMs(headers), signal });
    // A reload may have removed a service code during the polls.
    selection = parseSelection(query, facade);
  }
  if (isErrorResponse(selection)) return selection;
  const families = await facade.collect(selection);
  signal?.throwIfAborted();
  const { format, contentType } = negotiateFormat(headers.accept);
  const body = exposition.renderBody(selection, families, format);
  const vary = { Vary: 'Accept, Accept-Encoding' };
  if (!acceptsGzip(headers['accept-encoding'])) return respond(200, body.bytes, contentType, vary);
  return respond(200, await gzipExposition(body), contentType, { ...vary, 'Content-Encoding': 'gzip' });
}

/** Reads `X-Prometheus-Scrape-Timeout-Seconds`, in milliseconds; `undefined` if it is missing or invalid. */
export function parseScrapeTimeoutMs(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['x-prometheus-scrape-timeout-seconds'];
  if (typeof text !== 'string' || !/^\d+(?:\.\d+)?$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds > 0 ? seconds * 1000 : undefined;
}

/** Reads `collect[]` and `service_code`; returns an error response if they are invalid. */
function parseSelection(query: URLSearchParams, facade: ExporterFacade): FamilySelection | WebResponse {
  const collectors = query.getAll('collect[]');
  const unknown = collectors.find((name) => !COLLECTORS.some((collector) => collector === name));
  if (unknown !== undefined)
    return respondText(
      400,
      `Expected collect[] to be ${COLLECTORS.join(' or ')}, found ${formatEchoed(unknown)}.`,
    );
  const serviceCodes = query.getAll('service_code');
  if (serviceCodes.length === 0) return selectCollectors(collectors);
  if (serviceCodes.includes(''))
    return respondText(400, 'Expected service_code to have a value, found none.');
  // Together they select nothing, and an empty scrape that succeeds would hide the mistake.
  if (collectors.includes('exporter'))
    return respondText(400, 'Expected collect[]=exporter without service_code, found both.');
  const missing = serviceCodes.find((serviceCode) => !facade.hasServiceCode(serviceCode));
  if (missing === undefined) return new Set(serviceCodes);
  return respondUnknownServiceCode(facade.shard, facade.getOtherShard(missing));
}

function selectCollectors(names: readonly string[]): FamilySelection {
  const [first, ...others] = COLLECTORS.filter((collector) => names.includes(collector));
  return first === undefined || others.length > 0 ? 'everything' : first;
}

/** Quotes and truncates a value, with everything but plain ASCII replaced. */
function formatEchoed(value: string): string {
  const text = value.length > MAX_ECHOED_CHARS ? `${value.slice(0, MAX_ECHOED_CHARS)}...` : value;
  return `"${text.replaceAll(/[^\w .:,()[\]-]/g, '?')}"`;
}

function isErrorResponse(selection: FamilySelection | WebResponse): selection is WebResponse {
  return typeof selection === 'object' && 'status' in selection;
}
