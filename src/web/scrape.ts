import type { Exposition } from '../metrics/exposition/exposition.ts';
import type { FamilySelection } from '../metrics/catalogue/family.ts';
import { acceptsGzip, negotiateFormat } from './content-negotiation.ts';
import type { ExporterFacade } from './exporter-facade.ts';
import { gzipExposition } from './exposition-gzip.ts';
import { respond, respondText, type WebRequest, type WebResponse } from './http-messages.ts';

/** Path of the exporter's own metrics, which no poll changes. */
export const OWN_METRICS_PATH = '/-/metrics';

/** Responds to a scrape of everything or of one service code. */
export async function handleScrape(
  facade: ExporterFacade,
  request: WebRequest,
  query: URLSearchParams,
  exposition: Exposition,
): Promise<WebResponse> {
  const target = parseTarget(query, facade);
  if ('status' in target) return target;
  const { serviceCode } = target;
  const selection = serviceCode === undefined ? 'everything' : { serviceCode };
  return await respondExposition(facade, request, selection, exposition);
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

/** Reads `service_code`, by default every code; returns an error response if the query is invalid. */
function parseTarget(
  query: URLSearchParams,
  facade: ExporterFacade,
): { readonly serviceCode: string | undefined } | WebResponse {
  const [serviceCode, ...others] = query.getAll('service_code');
  if (others.length > 0)
    return respondText(
      400,
      `Expected one service_code, found ${others.length + 1}: scrape each in a request of its own, or all without service_code.`,
    );
  if (serviceCode === '') return respondText(400, 'Expected service_code to have a value, found none.');
  const unknown = serviceCode === undefined ? undefined : facade.explainUnknown(serviceCode);
  return unknown === undefined ? { serviceCode } : respondText(404, unknown);
}
