import type { IncomingHttpHeaders } from 'node:http';
import { respondCompressed } from '../compression.ts';
import { notHere } from '../not-here.ts';
import { respondText, type WebResponse } from '../response.ts';
import type { ExporterView } from '../view.ts';
import { codeOfAddress, isCodeAddress } from './code-address.ts';
import { renderCodePage } from './code-page.ts';
import { documentPolicy } from './document.ts';
import { renderListPage } from './list-page.ts';
import { parseListQuery } from './list-query.ts';

type PageRoute = (
  view: ExporterView,
  request: { readonly headers: IncomingHttpHeaders },
  query: URLSearchParams,
) => WebResponse | Promise<WebResponse>;

/** The page for people at a path, if it is one: `/`, or that of a service code. */
export function statusPage(path: string, telemetryPath: string): PageRoute | undefined {
  if (path === '/') {
    return (view, { headers }, query) => respondPage(listOf(view, query, telemetryPath), headers);
  }
  if (!isCodeAddress(path)) return undefined;
  return (view, { headers }, query) => {
    const serviceCode = codeOfAddress(path, query);
    if (serviceCode === undefined) return respondText(404, 'No such service code is configured.');
    const page = codeOf(view, serviceCode, telemetryPath);
    return page === undefined ? notHere(view, serviceCode) : respondPage(page, headers);
  };
}

/** The page at `/`. */
export function listOf(view: ExporterView, query: URLSearchParams, telemetryPath: string): string {
  return renderListPage({
    version: view.version,
    telemetryPath,
    shard: view.shard,
    isReady: view.isReady(),
    nowMs: view.nowMs(),
    query: parseListQuery(query),
    rows: view.status(),
  });
}

/** The page of a service code; `undefined` if there is no such code. */
export function codeOf(view: ExporterView, serviceCode: string, telemetryPath: string): string | undefined {
  const status = view.statusOf(serviceCode);
  if (status === undefined) return undefined;
  return renderCodePage({
    version: view.version,
    telemetryPath,
    nowMs: view.nowMs(),
    status,
    breakdown: view.breakdownOf(serviceCode),
  });
}

function respondPage(page: string, request: IncomingHttpHeaders): Promise<WebResponse> {
  return respondCompressed([Buffer.from(page)], 'text/html; charset=utf-8', request, {
    Vary: 'Accept-Encoding',
    'Content-Security-Policy': documentPolicy(),
    'Referrer-Policy': 'no-referrer',
  });
}
