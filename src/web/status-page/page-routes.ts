import type { IncomingHttpHeaders } from 'node:http';
import { prefersHtml } from '../content-negotiation.ts';
import type { ExporterFacade } from '../exporter-facade.ts';
import {
  describeUnknownServiceCode,
  respond,
  respondCompressed,
  respondText,
  type WebResponse,
} from '../response.ts';
import { buildContentSecurityPolicy, renderDocument, type PageContext } from './document.ts';
import { renderListPage } from './list-page.ts';
import { html } from './markup.ts';
import { isServiceCodePath, parseListQuery, parseServiceCodePath } from './page-urls.ts';
import { renderServiceCodePage } from './service-code-page.ts';

type PageRoute = (
  facade: ExporterFacade,
  request: { readonly headers: IncomingHttpHeaders },
  query: URLSearchParams,
) => WebResponse | Promise<WebResponse>;

/** Finds the status page at a path: the list at `/`, or the page of a service code. */
export function findPageRoute(path: string, telemetryPath: string): PageRoute | undefined {
  if (path === '/') {
    return (facade, { headers }, query) => respondPage(buildListPage(facade, query, telemetryPath), headers);
  }
  if (!isServiceCodePath(path)) return undefined;
  return (facade, { headers }, query) => {
    // A path without a valid code gets the response of an unknown code: no code is empty.
    const serviceCode = parseServiceCodePath(path, query) ?? '';
    const page = buildServiceCodePage(facade, serviceCode, telemetryPath);
    if (page !== undefined) return respondPage(page, headers);
    const reason = describeUnknownServiceCode(facade.shard, facade.getOtherShard(serviceCode));
    return respondNotFound(facade, headers, telemetryPath, reason);
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
    ...getPageContext(facade, telemetryPath),
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
    ...getPageContext(facade, telemetryPath),
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
    ...getPageContext(facade, telemetryPath),
    status,
    polling: facade.getPolling(serviceCode),
    configurationFile: facade.configurationFile,
    breakdown: facade.getBreakdown(serviceCode),
  });
}

function getPageContext(facade: ExporterFacade, telemetryPath: string): PageContext {
  const { links } = facade;
  return { process: facade.getProcess(), links, telemetryPath, nowMs: facade.nowMs() };
}

const HTML = 'text/html; charset=utf-8';

const PAGE_HEADERS = {
  'Content-Security-Policy': buildContentSecurityPolicy(),
  'Referrer-Policy': 'no-referrer',
} as const;

function respondPage(page: string, request: IncomingHttpHeaders): Promise<WebResponse> {
  return respondCompressed(page, HTML, request, { ...PAGE_HEADERS, Vary: 'Accept-Encoding' });
}
