import type { IncomingHttpHeaders } from 'node:http';
import type { Exposition } from '../metrics/exposition.ts';
import { discovery } from './discovery.ts';
import type { Scheme } from './host.ts';
import { respondText } from './response.ts';
import type { WebResponse } from './response.ts';
import { scrape } from './scrape.ts';
import { statusPage } from './pages/status-pages.ts';
import type { ExporterView } from './view.ts';

const PROBES: readonly string[] = ['/-/healthy', '/-/ready'];

/** A request without a socket. */
export interface WebRequest {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Of the connection that it came by; without it, plain HTTP. */
  readonly scheme?: Scheme;
  /** Aborts when no one waits for the answer any more. */
  readonly signal?: AbortSignal;
}

export interface RouteOptions {
  /** Where the metrics are. */
  readonly telemetryPath: string;
  /** Renders them. */
  readonly exposition: Exposition;
  /** Reads the configuration again; `undefined` where nobody may ask for it here. */
  readonly reload?: (() => Promise<ReloadOutcome>) | undefined;
}

/** How a reload went: with what is wrong with the configuration, where it is wrong. */
interface ReloadOutcome {
  readonly error?: string;
}

/** Answers a request; the body of an answer to HEAD is empty. Rejects where the view does, or on abort. */
export async function handle(
  request: WebRequest,
  view: ExporterView,
  options: RouteOptions,
): Promise<WebResponse> {
  const { path, query } = splitUrl(request.url);
  if (path === '/-/reload') return await reload(request, options);
  const answer = routeOf(path, options);
  if (answer === undefined) return respondText(404, 'Not found.');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return respondText(405, 'Method not allowed: GET or HEAD.', { Allow: 'GET, HEAD' });
  }
  const response = await answer(view, request, query);
  return request.method === 'HEAD' ? { ...response, body: '' } : response;
}

/** Whether a request asks about the process itself: such ones are answered even when all else is refused. */
export function isProbe(url: string): boolean {
  return PROBES.includes(splitUrl(url).path);
}

type Route = (
  view: ExporterView,
  request: WebRequest,
  query: URLSearchParams,
) => WebResponse | Promise<WebResponse>;

function routeOf(path: string, options: RouteOptions): Route | undefined {
  if (path === options.telemetryPath) {
    return (view, request, query) => scrape(view, request, query, options.exposition);
  }
  switch (path) {
    case '/sd':
      return (view, request) => discovery(view, request, options.telemetryPath);
    case '/-/healthy':
      return health;
    case '/-/ready':
      return readiness;
    default:
      return statusPage(path, options.telemetryPath);
  }
}

/** Path and query of a request target. Not by `URL`: to it `//host/metrics` is a host, and some request targets are no URL at all. */
export function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return { path, query: new URLSearchParams(mark < 0 ? '' : url.slice(mark)) };
}

function health(view: ExporterView): WebResponse {
  return view.isHealthy()
    ? respondText(200, 'xvs-exporter is healthy.')
    : respondText(503, 'xvs-exporter is not healthy: its polls stand still.');
}

function readiness(view: ExporterView): WebResponse {
  return view.isReady()
    ? respondText(200, 'xvs-exporter is ready.')
    : respondText(503, 'xvs-exporter is not ready: the first round of polls is not over.');
}

/** The only route that changes something: never by GET, which a link or a crawler sends. */
async function reload({ method }: WebRequest, options: RouteOptions): Promise<WebResponse> {
  if (method !== 'POST') return respondText(405, 'Method not allowed: POST.', { Allow: 'POST' });
  if (options.reload === undefined) {
    return respondText(403, 'Reloading by request is not enabled: see --web.enable-lifecycle.');
  }
  const { error } = await options.reload();
  return error === undefined
    ? respondText(200, 'xvs-exporter has reloaded its configuration.')
    : respondText(500, error);
}
