import type { IncomingHttpHeaders } from 'node:http';
import { prefersHtml } from '../content-negotiation.ts';
import type { ExporterFacade } from '../exporter-facade.ts';
import {
  respond,
  respondCompressed,
  respondText,
  type WebRequest,
  type WebResponse,
} from '../http-messages.ts';
import { buildContentSecurityPolicy, renderDocument } from './document.ts';
import { renderListPage } from './list-page.ts';
import { html } from './markup.ts';
import { isServiceCodePath, parseListQuery, parseServiceCodePath } from './page-urls.ts';
import { renderServiceCodePage } from './service-code-page.ts';

const HTML = 'text/html; charset=utf-8';

const PAGE_HEADERS = {
  'Content-Security-Policy': buildContentSecurityPolicy(),
  'Referrer-Policy': 'no-referrer',
} as const;

/** Finds the status page at a path: the list at `/`, or the page of a service code. */
export function findPageRoute(
  path: string,
  query: URLSearchParams,
  facade: ExporterFacade,
  telemetryPath: string,
): ((request: WebRequest) => WebResponse | Promise<WebResponse>) | undefined {
  const respondPage = (page: string, { headers }: WebRequest): Promise<WebResponse> =>
    respondCompressed(page, HTML, headers, PAGE_HEADERS);
  if (path === '/') return (request) => respondPage(buildListPage(facade, query, telemetryPath), request);
  if (!isServiceCodePath(path)) return undefined;
  return (request) => {
    // A path without a valid code gets the response of an unknown code: no code is empty.
    const serviceCode = parseServiceCodePath(path, query) ?? '';
    const page = buildServiceCodePage(facade, serviceCode, telemetryPath);
    return page === undefined
      ? respondNotFound(facade, request.headers, telemetryPath, facade.explainUnknown(serviceCode))
      : respondPage(page, request);
  };
}

/** Responds with 404: with a page if the client prefers HTML, as browsers do, and with plain text otherwise. */
export function respondNotFound(
  facade: ExporterFacade,
  { accept }: IncomingHttpHeaders,
  telemetryPath: string,
  reason?: string,
): WebResponse {
  if (!prefersHtml(accept)) return respondText(404, reason ?? 'Not found.', { Vary: 'Accept' });
  const page = renderDocument({
    process: facade.getProcess(),
    telemetryPath,
    title: 'Not found · xvs-exporter',
    icon: 'waiting',
    isLive: false,
    header: html`<h1>Not found</h1>`,
    summary: reason ?? 'There is no page at this address.',
    main: html`<p><a href="/">All service codes</a></p>`,
  });
  return respond(404, page, HTML, { ...PAGE_HEADERS, Vary: 'Accept' });
}

/** The page at `/`. */
export function buildListPage(facade: ExporterFacade, query: URLSearchParams, telemetryPath: string): string {
  return renderListPage({
    process: facade.getProcess(),
    telemetryPath,
    isReady: facade.isReady(),
    query: parseListQuery(query),
    rows: facade.getStatuses(),
  });
}

/** The page of a service code; `undefined` if the code is not configured. */
export function buildServiceCodePage(
  facade: ExporterFacade,
  serviceCode: string,
  telemetryPath: string,
): string | undefined {
  const status = facade.getStatus(serviceCode);
  if (status === undefined) return undefined;
  return renderServiceCodePage({
    process: facade.getProcess(),
    telemetryPath,
    status,
    polling: facade.getPolling(serviceCode),
    breakdown: facade.getBreakdown(serviceCode),
  });
}
