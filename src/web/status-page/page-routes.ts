import type { IncomingHttpHeaders } from 'node:http';
import type { ExporterFacade } from '../exporter-facade.ts';
import { respondCompressed, respondUnknownServiceCode, type WebResponse } from '../response.ts';
import { buildContentSecurityPolicy } from './document.ts';
import { renderListPage } from './list-page.ts';
import { parseListQuery } from './list-query.ts';
import { renderServiceCodePage } from './service-code-page.ts';
import { isServiceCodePath, parseServiceCodePath } from './service-code-path.ts';

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
    return respondUnknownServiceCode(facade.shard, facade.getOtherShard(serviceCode));
  };
}

/** The page at `/`. */
export function buildListPage(facade: ExporterFacade, query: URLSearchParams, telemetryPath: string): string {
  return renderListPage({
    version: facade.version,
    telemetryPath,
    shard: facade.shard,
    isReady: facade.isReady(),
    nowMs: facade.nowMs(),
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
    version: facade.version,
    telemetryPath,
    nowMs: facade.nowMs(),
    status,
    breakdown: facade.getBreakdown(serviceCode),
  });
}

function respondPage(page: string, request: IncomingHttpHeaders): Promise<WebResponse> {
  return respondCompressed(page, 'text/html; charset=utf-8', request, {
    Vary: 'Accept-Encoding',
    'Content-Security-Policy': buildContentSecurityPolicy(),
    'Referrer-Policy': 'no-referrer',
  });
}
