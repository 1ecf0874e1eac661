import type { IncomingHttpHeaders } from 'node:http';
import type { WebResponse } from './response.ts';

export type Scheme = 'http' | 'https';

/** An HTTP request without its socket. */
export interface WebRequest {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Default: `http`. */
  readonly scheme?: Scheme;
  /** Whether the client had to present a password or a verified certificate. Default: false. */
  readonly isAuthenticated?: boolean;
  /** Address or network of the client. */
  readonly client?: string;
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal;
  /** Creates a response when it is the turn of the client, because a body takes time and memory. Default: at once. */
  readonly inTurn?: (create: () => Promise<WebResponse>) => Promise<WebResponse>;
}

/** Creates a response without waiting for a turn. */
export const runAtOnce: NonNullable<WebRequest['inTurn']> = (create) => create();

/** Paths that report the state of the process and bypass limits. */
export const PROBE_PATHS = { health: '/-/healthy', readiness: '/-/ready' } as const;

/** Whether a request target is a probe. */
export function isProbe(url: string): boolean {
  const { path } = parseRequestTarget(url);
  return path === PROBE_PATHS.health || path === PROBE_PATHS.readiness;
}

/**
 * Splits a request target into path and query. `URL` does not fit: it takes `//host/metrics` for a host, and rejects
 * targets such as `*`.
 */
export function parseRequestTarget(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const queryStart = url.indexOf('?');
  if (queryStart < 0) return { path: url, query: new URLSearchParams() };
  return { path: url.slice(0, queryStart), query: new URLSearchParams(url.slice(queryStart)) };
}
