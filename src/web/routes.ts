import type { IncomingHttpHeaders } from 'node:http';
import type { ExporterFacade } from './exporter-facade.ts';
import {
  isProbe,
  parseRequestTarget,
  PROBE_PATHS,
  respondCompressed,
  respondText,
  type WebRequest,
  type WebResponse,
} from './http-messages.ts';
import { handleScrape, OWN_METRICS_PATH, respondExposition } from './scrape.ts';
import { handleServiceDiscovery } from './service-discovery.ts';
import { buildContentSecurityPolicy, renderNotFoundPage } from './status-page/document.ts';
import { renderListPage } from './status-page/list-page.ts';
import { renderServiceCodePage } from './status-page/service-code-page.ts';

export interface RouteOptions {
  /** `undefined` disables `/-/reload`. The error has a line for each problem of the new configuration. */
  readonly reload?: (() => Promise<{ readonly error?: string }>) | undefined;
}

/** Enough for a service code or a filter, percent-encoded. Parsing takes time in proportion. */
const MAX_TARGET_LENGTH = 2048;

const NO_BODY = Buffer.alloc(0);

const PAGE_HEADERS = {
  'Content-Security-Policy': buildContentSecurityPolicy(),
  'Referrer-Policy': 'no-referrer',
} as const;

export async function handle(
  request: WebRequest,
  facade: ExporterFacade,
  options: RouteOptions,
): Promise<WebResponse> {
  const { method } = request;
  if (request.url.length > MAX_TARGET_LENGTH)
    return respondText(414, `Expected a request target of at most ${MAX_TARGET_LENGTH} characters.`);
  if (!isProbe(request.url) && !isPercentEncoded(request.url))
    return respondText(400, 'Expected a request target in percent-encoded UTF-8.');
  const { path, query } = parseRequestTarget(request.url);
  if (path === '/-/reload') return await handleReload(request, options);
  const respondTo = findRoute(path, query, facade);
  if (respondTo === undefined) return await respondNotFound('Nothing is at this path.', request, facade);
  if (method !== 'GET' && method !== 'HEAD')
    return respondText(405, 'Method not allowed: GET or HEAD.', { Allow: 'GET, HEAD' });
  const response = await respondTo(request);
  return method === 'HEAD' ? { ...response, body: NO_BODY } : response;
}

/** `URLSearchParams` would replace what cannot be decoded, at ten times the cost of an ordinary request. */
function isPercentEncoded(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

type Route = (request: WebRequest) => WebResponse | Promise<WebResponse>;

function findRoute(path: string, query: URLSearchParams, facade: ExporterFacade): Route | undefined {
  switch (path) {
    case facade.telemetryPath:
      return (request) => handleScrape(facade, request, query);
    case OWN_METRICS_PATH:
      return (request) => respondExposition(facade, request, 'exporter');
    case '/sd':
      return (request) => handleServiceDiscovery(facade, request);
    case PROBE_PATHS.health:
      return () =>
        facade.isHealthy()
          ? respondText(200, 'xvs-exporter is healthy.')
          : respondText(503, 'xvs-exporter is unhealthy: the poll loop is stuck.');
    case PROBE_PATHS.readiness:
      return () =>
        facade.isReady()
          ? respondText(200, 'xvs-exporter is ready.')
          : respondText(503, 'xvs-exporter is not ready: the first polls have not finished.');
    case '/':
      return (request) => respondPage(renderListPage(facade, query), request);
    case '/service-codes/':
      return (request) => {
        const page = renderServiceCodePage(facade, query);
        if (page !== undefined) return respondPage(page, request);
        const reason = facade.explainUnknown(query.get('service_code') ?? '') ?? 'Not found.';
        return respondNotFound(reason, request, facade);
      };
    default:
      return undefined;
  }
}

async function respondNotFound(reason: string, request: WebRequest, facade: ExporterFacade) {
  if (request.headers.accept?.includes('text/html') !== true) return respondText(404, reason);
  const { path } = parseRequestTarget(request.url);
  return await respondPage(renderNotFoundPage(facade.getProcess(), path, reason), request, 404);
}

async function respondPage(page: string, { headers }: WebRequest, status = 200): Promise<WebResponse> {
  return { ...(await respondCompressed(page, 'text/html; charset=utf-8', headers, PAGE_HEADERS)), status };
}

/** The only route that changes state, so it does not accept GET, which links and crawlers send. */
async function handleReload(request: WebRequest, options: RouteOptions): Promise<WebResponse> {
  const { method, headers, isAuthenticated } = request;
  if (method !== 'POST') return respondText(405, 'Method not allowed: POST.', { Allow: 'POST' });
  if (options.reload === undefined)
    return respondText(403, 'Reload is disabled. Set --web.enable-lifecycle to enable it.');
  if (isCrossSite(headers)) return respondText(403, 'Reload requests from other sites are rejected.');
  const { error } = await options.reload();
  if (error === undefined) return respondText(200, 'xvs-exporter has reloaded its configuration.');
  // The details contain paths and parts of the configuration.
  return respondText(500, isAuthenticated ? error : 'Reload failed; the log has the details.');
}

/**
 * Whether a page of another site made a browser send the request: browsers send `Sec-Fetch-Site` only to
 * trustworthy addresses, `Origin` with every POST; other clients send neither.
 */
function isCrossSite({ 'sec-fetch-site': site, origin, host }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}
