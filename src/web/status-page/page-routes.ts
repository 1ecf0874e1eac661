import { prefersHtml } from '../content-negotiation.ts';
import type { ExporterFacade } from '../exporter-facade.ts';
import {
  parseRequestTarget,
  respond,
  respondCompressed,
  respondText,
  type WebRequest,
  type WebResponse,
} from '../http-messages.ts';
import { buildContentSecurityPolicy, renderDocument } from './document.ts';
import { renderListPage } from './list-page.ts';
import { html } from './markup.ts';
import { parseServiceCodePath, renderServiceCodePage } from './service-code-page.ts';

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
): ((request: WebRequest) => WebResponse | Promise<WebResponse>) | undefined {
  const respondPage = (page: string, { headers }: WebRequest): Promise<WebResponse> =>
    respondCompressed(page, HTML, headers, PAGE_HEADERS);
  if (path === '/') return (request) => respondPage(renderListPage(facade, query), request);
  const serviceCode = parseServiceCodePath(path, query);
  if (serviceCode === undefined) return undefined;
  return (request) => {
    const page = renderServiceCodePage(facade, serviceCode, query);
    return page === undefined
      ? respondNotFound(facade, request, facade.explainUnknown(serviceCode))
      : respondPage(page, request);
  };
}

/** Responds with 404: with a page if the client prefers HTML, as browsers do, and with plain text otherwise. */
export function respondNotFound(
  facade: ExporterFacade,
  { url, headers: { accept } }: WebRequest,
  reason?: string,
): WebResponse {
  if (!prefersHtml(accept)) return respondText(404, reason ?? 'Not found.', { Vary: 'Accept' });
  const root = '../'.repeat(parseRequestTarget(url).path.split('/').length - 2) || './';
  const page = renderDocument(facade.getProcess(), {
    root,
    title: 'Not found',
    isLive: false,
    header: html`<h1>Not found</h1>`,
    summary: reason ?? 'There is no page at this address.',
    main: html`<p><a href="${root}">All service codes</a></p>`,
  });
  return respond(404, page, HTML, { ...PAGE_HEADERS, Vary: 'Accept' });
}
